"""An estimator's half that is stored: as a file, or as plain JSON."""

import os
from collections.abc import Mapping
from typing import Any

from sklearn.utils.validation import check_is_fitted


class Stored:
    """Part of the estimators: writes what predicts, decides, explains and goes on training."""

    @property
    def metadata_(self) -> dict[str, Any]:
        """Anything that JSON can say, for the user's own use: saved and loaded with the model."""
        kept: dict[str, Any] = self.__dict__.setdefault("_metadata", {})
        return kept

    @metadata_.setter
    def metadata_(self, given: Mapping[str, Any]) -> None:
        self.__dict__["_metadata"] = dict(given)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model to a file that `rebelboost.load` reads; see docs/files.md.

        Everything is kept but callbacks. The file is replaced at once and whole, or not at all.
        """
        from rebelboost.files.model_file import save  # which most programs do without

        check_is_fitted(self)
        save(self, path)

    def to_dict(self) -> dict[str, Any]:
        """The model as plain JSON, for other languages; see docs/files.md."""
        from rebelboost.files.plain_json import as_plain

        check_is_fitted(self)
        return as_plain(self)
