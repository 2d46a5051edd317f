from __future__ import annotations

import asyncio
import gzip
import json
import time
from typing import Any

import pytest

from agent.llm import openai_chat
from agent.llm.base import BadRequest, ContentRefused, CutOff, KeyRefused, NoEyes, Temporary, ToolSpec, Usage
from agent.llm.bounded_transport import MOST_BYTES
from agent.llm.openai_chat import OpenAIChat
from tests.openai_server import Canned, OpenAIServer

HELLO = [{"role": "user", "content": "Hello"}]
TOOL = ToolSpec("get_order", "The order.", {"type": "object", "properties": {}, "required": []})
NAMES_A_FEATURE = {"message": "strict tools are not available for this model", "param": "tools"}


def answer(message: dict[str, Any], finish: str = "stop") -> Canned:
    return Canned({"choices": [{"message": message, "finish_reason": finish}]})


def chat(server: OpenAIServer) -> OpenAIChat:
    return OpenAIChat(server.url, "sk-secret", "some/model")


def soon(seconds: float = 10.0) -> float:
    return time.monotonic() + seconds


def test_a_call_carries_the_tools_strictly_and_asks_for_one(server: OpenAIServer) -> None:
    server.canned.append(answer({"content": "Hi."}))
    assert chat(server).complete(HELLO, [TOOL], soon()).text == "Hi."
    [asked] = server.asked
    assert asked.headers["authorization"] == "Bearer sk-secret"
    assert asked.body == {
        "model": "some/model",
        "messages": HELLO,
        "max_tokens": 8000,
        "tools": [{"type": "function", "function": {"name": "get_order", "description": "The order.",
                                                    "parameters": TOOL.parameters, "strict": True}}],
        "tool_choice": "required",
        "parallel_tool_calls": True,
    }  # fmt: skip


def test_without_tools_nothing_of_tools_is_sent(server: OpenAIServer) -> None:
    server.canned.append(answer({"content": "Hi."}))
    chat(server).complete(HELLO, [], soon())
    assert set(server.asked[0].body) == {"model", "messages", "max_tokens"}


def test_a_refused_feature_is_left_out_at_once_and_remembered(server: OpenAIServer) -> None:
    server.canned += [Canned(NAMES_A_FEATURE, status=400), answer({"content": "One."}), answer({"content": "Two."})]
    chat(server).complete(HELLO, [TOOL], soon())
    chat(server).complete(HELLO, [TOOL], soon())
    strict = ["strict" in asked.body["tools"][0]["function"] for asked in server.asked]
    assert strict == [True, False, False]


def test_what_one_model_refuses_is_still_sent_to_another(server: OpenAIServer) -> None:
    server.canned += [Canned(NAMES_A_FEATURE, status=400), answer({"content": "x"}), answer({"content": "y"})]
    chat(server).complete(HELLO, [TOOL], soon())
    OpenAIChat(server.url, "sk-secret", "another/model").complete(HELLO, [TOOL], soon())
    assert server.asked[-1].body["tools"][0]["function"]["strict"] is True


def test_a_model_that_refuses_every_feature_one_after_another_is_still_asked(server: OpenAIServer) -> None:
    for name in ("parallel_tool_calls", "tool_choice", "strict", "max_tokens", "max_completion_tokens"):
        server.canned.append(Canned({"error": {"message": f"{name} is unknown"}}, status=422))
    server.canned.append(answer({"content": "At last."}))
    assert chat(server).complete(HELLO, [TOOL], soon()).text == "At last."
    assert set(server.asked[-1].body) == {"model", "messages", "tools"}


REPORT = ToolSpec("report", "The report.", {"type": "object", "properties": {"verdict": {"type": "string"}}})


def test_a_model_without_tools_is_asked_for_the_one_answer_by_its_schema(server: OpenAIServer) -> None:
    server.canned += [
        Canned({"error": {"message": "registry/model does not support tools"}}, status=400),
        Canned({"error": {"message": "response_format of type json_schema is not available"}}, status=400),
        answer({"content": '{"verdict": "no"}'}),
    ]
    assert chat(server).complete(HELLO, [REPORT], soon()).text == '{"verdict": "no"}'
    first, second, third = [asked.body for asked in server.asked]
    assert "tools" in first
    assert second.keys() == {"model", "messages", "max_tokens", "response_format"}
    assert second["response_format"]["json_schema"]["schema"] == REPORT.parameters
    assert third.keys() == {"model", "messages", "max_tokens"}
    assert third["messages"][-1]["content"].startswith("Answer with one JSON object and nothing else.")


def test_a_model_without_tools_is_not_asked_to_review(server: OpenAIServer) -> None:
    server.always = Canned({"error": {"message": "this model does not support tools"}}, status=400)
    with pytest.raises(BadRequest):
        chat(server).complete(HELLO, [TOOL, REPORT], soon())
    assert len(server.asked) == 1


PICTURE = [{"role": "user", "content": [{"type": "image_url", "image_url": {"url": "data:image/jpeg;base64,eA=="}}]}]


@pytest.mark.parametrize(
    ("status", "message"),
    [
        (404, "No endpoints found that support image input"),
        (400, "messages[0].content must be a string"),
        (400, "This model is not a multimodal model"),
        (422, "unknown variant `image_url`, expected `text`"),
    ],
)
def test_a_model_that_takes_no_pictures_is_not_sent_any_again(server: OpenAIServer, status: int, message: str) -> None:
    server.always = Canned({"error": {"message": message}}, status=status)
    for _ in range(2):
        with pytest.raises(NoEyes):
            chat(server).complete(PICTURE, [REPORT], soon())
    assert len(server.asked) == 1


def test_one_picture_that_cannot_be_read_says_nothing_of_the_models_eyes(server: OpenAIServer) -> None:
    server.canned.append(Canned({"error": {"message": "Invalid image data"}}, status=400))
    with pytest.raises(BadRequest):
        chat(server).complete(PICTURE, [REPORT], soon())
    server.canned.append(answer({"content": "{}"}))
    assert chat(server).complete(PICTURE, [REPORT], soon()).text == "{}"


def test_the_tokens_of_a_cut_answer_count(server: OpenAIServer) -> None:
    usage = {"prompt_tokens": 100, "completion_tokens": 10}
    message = {"content": "", "tool_calls": []}
    server.canned += [
        Canned({"choices": [{"message": message, "finish_reason": "length"}], "usage": usage}),
        Canned({"choices": [{"message": {"content": "Hi."}, "finish_reason": "stop"}], "usage": usage}),
    ]
    assert chat(server).complete(HELLO, [TOOL], soon()).usage == Usage(200, 20, None)


def test_reasoning_goes_back_only_to_a_model_that_wants_it(server: OpenAIServer) -> None:
    turn = {"role": "assistant", "content": "x", "reasoning_content": "Need the order."}
    server.canned += [
        Canned({"error": {"message": "reasoning_content must be passed back"}}, status=400),
        answer({"content": "Thanks."}),
    ]
    chat(server).complete([*HELLO, turn], [], soon())
    sent = ["reasoning_content" in asked.body["messages"][1] for asked in server.asked]
    assert sent == [False, True]


def test_an_answer_cut_in_a_call_is_asked_for_once_with_more_room(server: OpenAIServer) -> None:
    cut = {"tool_calls": [{"id": "a", "function": {"name": "issue_refund", "arguments": '{"reason": "cl'}}]}
    server.always = answer(cut, finish="length")
    with pytest.raises(CutOff):
        chat(server).complete(HELLO, [TOOL], soon())
    assert [asked.body["max_tokens"] for asked in server.asked] == [8000, 32000]


@pytest.mark.parametrize(
    ("canned", "expected"),
    [
        (Canned({"error": {"message": "key sk-secret unknown"}}, status=401), KeyRefused),
        (Canned({"error": {"message": "no credit"}}, status=402), KeyRefused),
        (Canned({"error": {"metadata": {"reasons": ["flagged"]}}}, status=403), ContentRefused),
        (Canned({"error": {"code": "content_filter"}}, status=400), ContentRefused),
        (Canned({"error": {"message": "model not found"}}, status=404), BadRequest),
        (Canned("<html>busy</html>", status=503, headers={"content-type": "text/html"}), Temporary),
        (Canned("<html>odd</html>", status=200, headers={"content-type": "text/html"}), Temporary),
        (Canned(b"\xff\xfe", status=200), Temporary),
        (Canned({"error": {"message": "slow down"}}, status=429), Temporary),
    ],
)
def test_each_bad_answer_is_its_own_kind_of_trouble(
    server: OpenAIServer, canned: Canned, expected: type[Exception]
) -> None:
    server.canned.append(canned)
    with pytest.raises(expected) as trouble:
        chat(server).complete(HELLO, [TOOL], soon())
    assert len(server.asked) == 1
    assert "sk-secret" not in str(trouble.value)
    assert "html" not in str(trouble.value)


@pytest.mark.parametrize("depth", [101, 960, 5000])
@pytest.mark.parametrize(("status", "expected"), [(200, Temporary), (503, Temporary), (400, BadRequest)])
def test_a_body_nested_deeper_than_any_answer_is_unreadable(
    server: OpenAIServer, status: int, expected: type[Exception], depth: int
) -> None:
    deep = "[" * depth + "]" * depth
    call = f'{{"function": {{"name": {deep}, "arguments": {deep}}}}}'
    body = f'{{"choices": [{{"message": {{"tool_calls": [{call}]}}, "finish_reason": {deep}}}], "error": {deep}}}'
    server.canned.append(Canned(body.encode(), status=status))
    with pytest.raises(expected):
        chat(server).complete(HELLO, [TOOL], soon())


def test_a_body_as_deep_as_an_answer_may_be_is_read(server: OpenAIServer) -> None:
    deep = "[" * 96 + "]" * 96  # inside an object, a list, a choice and its message
    server.canned.append(Canned(f'{{"choices": [{{"message": {{"content": "Hi.", "x": {deep}}}}}]}}'.encode()))
    assert chat(server).complete(HELLO, [], soon()).text == "Hi."


def test_a_call_nobody_waits_for_any_more_is_not_made(server: OpenAIServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(openai_chat, "LOOP_GRACE_SECONDS", 0.1)
    server.canned.append(answer({"content": "Hi."}))
    chat(server).complete(HELLO, [], soon())
    openai_chat._loop().call_soon_threadsafe(time.sleep, 0.8)
    with pytest.raises(Temporary, match="in time") as trouble:
        chat(server).complete(HELLO, [], soon(0.2))
    assert trouble.value.usage == Usage()
    asyncio.run_coroutine_threadsafe(asyncio.sleep(0.3), openai_chat._loop()).result(5)
    assert len(server.asked) == 1


def test_a_server_that_sends_a_byte_now_and_then_is_given_up_in_time(server: OpenAIServer) -> None:
    server.canned.append(Canned({"choices": [{"message": {"content": "slow"}}]}, drip_seconds=0.2))
    started = time.monotonic()
    with pytest.raises(Temporary, match="in time"):
        chat(server).complete(HELLO, [], soon(0.6))
    assert time.monotonic() - started < 2


def test_a_call_never_takes_longer_than_its_own_limit(server: OpenAIServer, settings: Any) -> None:
    settings.CALL_MAX_SECONDS = 0.3
    server.canned.append(Canned({}, wait_seconds=3))
    started = time.monotonic()
    with pytest.raises(Temporary, match="in time"):
        chat(server).complete(HELLO, [], soon(100))
    assert time.monotonic() - started < 2


def test_after_the_deadline_nobody_is_asked(server: OpenAIServer) -> None:
    with pytest.raises(Temporary):
        chat(server).complete(HELLO, [], time.monotonic() - 1)
    assert server.asked == []


def test_an_answer_larger_than_any_needs_to_be_is_not_held(server: OpenAIServer) -> None:
    server.canned.append(Canned(b" " * (MOST_BYTES + 1)))
    with pytest.raises(Temporary, match="could not be reached"):
        chat(server).complete(HELLO, [], soon())


def test_an_answer_that_comes_packed_is_not_unpacked(server: OpenAIServer) -> None:
    packed = gzip.compress(json.dumps({"choices": [{"message": {"content": "x" * 10_000_000}}]}).encode())
    server.canned.append(Canned(packed, headers={"content-type": "application/json", "content-encoding": "gzip"}))
    with pytest.raises(Temporary, match="could not be reached"):
        chat(server).complete(HELLO, [], soon())
    assert server.asked[0].headers["accept-encoding"] == "identity"


@pytest.mark.parametrize(
    ("url", "key"),
    [
        ("http://127.0.0.1:99999/v1", "k"),
        ("http://localhost:abc/v1", "k"),
        ("http://127.0.0.1:9/v1", "schlüssel"),
    ],
)
def test_an_address_or_key_that_cannot_be_used_is_a_trouble_of_the_provider(url: str, key: str) -> None:
    with pytest.raises(Temporary):
        OpenAIChat(url, key, "some/model").complete(HELLO, [], soon())


def test_nobody_at_the_address_is_a_passing_trouble() -> None:
    with pytest.raises(Temporary, match="could not be reached"):
        OpenAIChat("http://127.0.0.1:9/v1", "sk-secret", "m").complete(HELLO, [], soon())


def test_the_call_the_provider_could_not_read_is_an_empty_answer(server: OpenAIServer) -> None:
    body = {"error": {"code": "tool_use_failed", "failed_generation": "<function=issue_refund>{}</function>"}}
    server.canned.append(Canned(body, status=400))
    reply = chat(server).complete(HELLO, [TOOL], soon())
    assert (reply.text, reply.tool_calls) == ("", ())


@pytest.mark.parametrize(
    ("url", "name"),
    [("https://openrouter.ai/api/v1", "openrouter"), ("https://api.openai.com/v1", "openai"),
     ("http://127.0.0.1:9100/v1", "127.0.0.1"), ("https://llm.example.com/v1", "llm.example.com")],
)  # fmt: skip
def test_the_record_names_the_provider_by_its_host(url: str, name: str) -> None:
    assert OpenAIChat(url, "k", "m").provider == name


def test_the_scripted_model_answers_over_http_as_in_the_process(server: OpenAIServer) -> None:
    case = [{"role": "system", "content": "x"}, {"role": "user", "content": "Reason: damaged (Arrived damaged)"}]
    [call] = chat(server).complete(case, [TOOL], soon()).tool_calls
    assert (call.name, json.loads(call.arguments)) == ("get_order", {})
