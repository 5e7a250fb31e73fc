"""Line diffs in hunks."""
