FROM python:3.13-slim

ENV PYTHONDONTWRITEBYTECODE=1 \
    PYTHONUNBUFFERED=1 \
    PIP_DISABLE_PIP_VERSION_CHECK=1 \
    PIP_NO_CACHE_DIR=1

WORKDIR /app
COPY requirements/base.txt requirements/base.txt
RUN pip install --require-hashes -r requirements/base.txt

COPY . .
# Static files are named by their content; building them needs settings of production, and its secret is never used.
RUN DEMO=off SECRET_KEY=only-while-the-image-is-built-only-while-the-image-is-built DATA_DIR=/tmp/build \
    python manage.py collectstatic --noinput \
    && rm -r /tmp/build

RUN useradd --system --uid 10001 --no-create-home desk \
    && install --directory --owner desk /data
USER desk
ENV DEMO=off DATA_DIR=/data
VOLUME /data
EXPOSE 8000
CMD ["uvicorn", "refunddesk.asgi:application", "--host", "0.0.0.0", "--port", "8000", "--lifespan", "off", "--workers", "2"]
