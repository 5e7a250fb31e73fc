"""Evaluation by recursive descent, one method for each kind of operation."""

from calcline.tokens import FormulaError, tokenize


class _Reader:
    """Works a list of tokens off."""

    def __init__(self, tokens: list[str], names: dict[str, float]):
        self._tokens = tokens
        self._names = names
        self._next = 0

    @property
    def _token(self) -> str | None:
        """The token to come, or nothing at the end."""
        return self._tokens[self._next] if self._next < len(self._tokens) else None

    def _take(self) -> str:
        token = self._token
        if token is None:
            raise FormulaError("formula ends too early")
        self._next += 1
        return token

    def whole(self) -> float:
        value = self._sum()
        if self._token is not None:
            raise FormulaError(f"left over: {self._token!r}")
        return value

    def _sum(self) -> float:
        value = self._term()
        while self._token in ("+", "-"):
            if self._take() == "+":
                value += self._term()
            else:
                value -= self._term()
        return value

    def _term(self) -> float:
        value = self._unary()
        while self._token in ("*", "/"):
            if self._take() == "*":
                value *= self._unary()
            else:
                value /= self._unary()
        return value

    def _unary(self) -> float:
        if self._token == "-":
            self._take()
            return -self._unary()
        return self._power()

    def _power(self) -> float:
        value = self._atom()
        if self._token == "^":
            self._take()
            value = value ** self._unary()
        return value

    def _atom(self) -> float:
        token = self._take()
        if token == "(":
            value = self._sum()
            if self._take() != ")":
                raise FormulaError("parenthesis is not closed")
            return value
        if token[0].isdigit():
            return float(token)
        if token in self._names:
            return self._names[token]
        raise FormulaError(f"not a value: {token!r}")


def evaluate(formula: str, names: dict[str, float] | None = None) -> float:
    """The value of ``formula``, in which ``names`` may be used."""
    return _Reader(tokenize(formula), names or {}).whole()
