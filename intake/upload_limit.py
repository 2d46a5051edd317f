"""Takes the files of a form: never more than a form may hold, and never on disk before they are cleaned."""

from __future__ import annotations

import io
from typing import Any

from django.conf import settings
from django.core.files.uploadedfile import InMemoryUploadedFile
from django.core.files.uploadhandler import FileUploadHandler, StopFutureHandlers

MOST_PHOTOS_HELD = 5


class PhotoUploadHandler(FileUploadHandler):
    """Holds the files of a form in memory: each up to the limit of one photo, all together up to that of five.

    Of a file above either limit only the true size is told: whoever takes it refuses it by that, with a sentence, and
    the rest of the form is there.
    """

    def __init__(self, request: Any = None) -> None:
        super().__init__(request)
        self.held_before = 0
        self.content = io.BytesIO()

    def new_file(self, *args: Any, **kwargs: Any) -> None:
        super().new_file(*args, **kwargs)
        self.content = io.BytesIO()
        raise StopFutureHandlers

    def receive_data_chunk(self, raw_data: bytes, start: int) -> None:
        size, most = start + len(raw_data), settings.PHOTO_MAX_BYTES
        if size > most or self.held_before + size > MOST_PHOTOS_HELD * most:
            self.content = io.BytesIO()
        else:
            self.content.write(raw_data)

    def file_complete(self, file_size: int) -> InMemoryUploadedFile:
        self.held_before += self.content.tell()
        self.content.seek(0)
        return InMemoryUploadedFile(
            self.content,
            self.field_name,
            self.file_name,
            self.content_type,
            file_size,
            self.charset,
            self.content_type_extra,
        )
