from kesoku import errors as errors
from kesoku import messages as messages
from kesoku.errors import *  # noqa: F403
from kesoku.messages import *  # noqa: F403

__version__: str
