"""Alarms for goods that must be kept cool."""
