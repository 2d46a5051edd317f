"""Tests talk to this machine only."""

from __future__ import annotations

import socket

import pytest
from pytest_socket import SocketConnectBlockedError


@pytest.mark.filterwarnings("ignore:A test tried to use socket")
def test_a_live_address_is_refused() -> None:
    with pytest.raises(SocketConnectBlockedError):
        socket.create_connection(("192.0.2.1", 443), timeout=1)


def test_a_name_is_refused_before_anything_is_sent() -> None:
    with pytest.raises((SocketConnectBlockedError, socket.gaierror)):
        socket.create_connection(("openrouter.ai", 443), timeout=1)


def test_this_machine_may_be_reached() -> None:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        socket.create_connection(listener.getsockname(), timeout=1).close()
