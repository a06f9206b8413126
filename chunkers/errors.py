"""The errors a user can see; anything else that escapes is a bug."""


class UsageError(Exception):
    """The user's input is wrong; the message names it and says what to do."""

    exit_code = 2


class MissingExtraError(UsageError):
    """A required package is not installed; the message names the extra."""

    exit_code = 4

    def __init__(self, what: str, *, extra: str) -> None:
        super().__init__(f"{what} is not installed: pip install 'chunkbench[{extra}]'")
        self.extra = extra


class MissingProgramError(UsageError):
    """A required program is not on the path; the message says how to install it."""

    exit_code = 4

    def __init__(self, program: str, *, remedy: str) -> None:
        super().__init__(f"{program} is not installed: {remedy}")


def reason_of(error: BaseException) -> str:
    """Return the exception in one line, with its type unless the message was written for users."""
    said = " ".join(str(error).split())
    return said if isinstance(error, UsageError) else ": ".join(filter(None, (type(error).__name__, said)))


NO_MEMORY = "there is not enough memory: take fewer files or chunkers, or a smaller depth"
