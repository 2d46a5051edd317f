"""What an error of a provider means is read in its own words, over HTTP: never in those of a customer or a model, which
it may repeat."""

from __future__ import annotations

import json
import time
from dataclasses import replace
from typing import Any

import pytest

from agent.llm import openai_chat
from agent.llm.base import BadRequest, ContentRefused, CutOff, KeyRefused, ModelTrouble, NoEyes, Temporary, ToolSpec
from agent.llm.openai_chat import REMEMBERED_SECONDS, OpenAIChat
from tests.openai_server import Canned, OpenAIServer

REPORT = ToolSpec("report", "The report.", {"type": "object", "properties": {"verdict": {"type": "string"}}})
HELLO = [{"role": "user", "content": "Hello"}]
PICTURE = [{"role": "user", "content": [{"type": "image_url", "image_url": {"url": "data:image/jpeg;base64,eA=="}}]}]
HI = Canned({"choices": [{"message": {"content": "Hi."}, "finish_reason": "stop"}]})
CUT = Canned({"choices": [{"message": {"content": ""}, "finish_reason": "length"}]})


def chat(server: OpenAIServer) -> OpenAIChat:
    return OpenAIChat(server.url, "sk-secret", "some/model")


def ask(server: OpenAIServer, messages: Any = HELLO) -> str:
    return chat(server).complete(messages, [REPORT], time.monotonic() + 10).text


def error(message: str, status: int = 400, **more: Any) -> Canned:
    return Canned({"error": {"message": message, **more}}, status=status)


def unread(generation: str) -> Canned:
    return error("Failed to call a function.", code="tool_use_failed", failed_generation=generation)


def trouble(server: OpenAIServer, answer: Canned, messages: Any = HELLO) -> ModelTrouble:
    server.canned.append(answer)
    with pytest.raises(ModelTrouble) as told:
        ask(server, messages)
    return told.value


def sent(server: OpenAIServer) -> list[tuple[Any, Any]]:
    """The name of the token limit and its number, call by call."""
    names = ("max_tokens", "max_completion_tokens")
    return [next(((name, asked.body[name]) for name in names if name in asked.body), ("", 0)) for asked in server.asked]


@pytest.mark.parametrize(
    "generation",
    [
        "The image does not support the claim.",
        "This model does not support image input; content must be a string",
        "tool_choice, strict tools are not available, max_tokens is unknown, reasoning_content must be passed back",
    ],
)
@pytest.mark.parametrize("messages", [HELLO, PICTURE])
def test_what_the_model_wrote_costs_it_no_feature(server: OpenAIServer, messages: Any, generation: str) -> None:
    server.canned += [unread(generation), HI]
    assert ask(server, messages) == ""
    assert ask(server, messages) == "Hi."
    assert server.asked[0].body == server.asked[1].body


@pytest.mark.parametrize("code", ["json_validate_failed", "output_parse_failed"])
def test_other_names_for_an_answer_nobody_could_read(server: OpenAIServer, code: str) -> None:
    server.canned += [error("See 'failed_generation'.", code=code, failed_generation="strict is unknown"), HI]
    assert ask(server) == ""
    assert ask(server) == "Hi."
    assert server.asked[0].body == server.asked[1].body


WROTE = "Your model does not support image input. Strict tools are not available. Unsupported parameter: tool_choice."


@pytest.mark.parametrize(
    "body",
    [
        {"error": {"message": "Something is wrong here.", "input": WROTE}},
        {"error": {"message": f"1 validation error: {{'loc': ('body', 'x'), 'msg': 'Bad', 'input': '{WROTE}'}}"}},
        {"error": {"message": f"Bad [type=missing, input_value='{WROTE}', input_type=str]"}},
        {"error": {"message": f"The prompt is too long: {WROTE}"}},
        {"error": {"message": "Provider returned error", "metadata": {"raw": f"Bad prompt: {WROTE}"}}},
        {"detail": [{"loc": ["body", "messages", 0], "msg": "Bad", "input": WROTE}]},
        {"request": {"messages": WROTE}, "error": "bad request"},
    ],
)
def test_what_the_customer_wrote_costs_no_feature_where_the_error_repeats_it(server: OpenAIServer, body: Any) -> None:
    parts = [{"type": "text", "text": f"The customer wrote:\n{WROTE}"}, *PICTURE[0]["content"]]
    asked = [{"role": "user", "content": parts}]
    assert isinstance(trouble(server, Canned(body, status=400), asked), BadRequest)
    server.canned.append(HI)
    assert ask(server, PICTURE) == "Hi."
    assert "strict" in server.asked[-1].body["tools"][0]["function"]
    assert "tool_choice" in server.asked[-1].body


@pytest.mark.parametrize(
    "message",
    [
        "You uploaded an unsupported image. Please make sure your image has of one the following formats: ['png']",
        "The image data you provided does not represent a valid image. Use one of the supported image formats.",
        "This model does not support images larger than 20 MB",
        "image/heic is not supported",
        "Invalid 'messages[1].content': string too long. Expected a string with maximum length 1048576",
        "Invalid type for 'tools[0].function.name': expected a string, but got null",
    ],
)
def test_a_picture_that_does_not_suit_says_nothing_of_the_models_eyes(server: OpenAIServer, message: str) -> None:
    assert isinstance(trouble(server, error(message), PICTURE), BadRequest)
    server.canned.append(HI)
    assert ask(server, PICTURE) == "Hi."


@pytest.mark.parametrize(
    "message",
    [
        "this model does not support image input (ref: 1)",
        "Model does not support images. Please use a model that does.",
        "Invalid content type. image_url is only supported by certain models.",
        "some/model is not a multimodal model",
        "At most 0 image(s) may be provided in one request.",
        "The model doesn't support vision",
        "Image input is not enabled for this model",
        "This is a text-only model",
    ],
)
def test_a_model_without_eyes_says_so_in_many_ways(server: OpenAIServer, message: str) -> None:
    assert isinstance(trouble(server, error(message), PICTURE), NoEyes)
    assert len(server.asked) == 1


def test_a_refusal_of_the_provider_behind_is_read_where_it_was_packed(server: OpenAIServer) -> None:
    behind = json.dumps({"error": {"message": "Unsupported parameter.", "param": "parallel_tool_calls"}})
    server.canned += [error("Provider returned error", metadata={"raw": behind, "provider_name": "X"}), HI]
    assert ask(server) == "Hi."
    assert "parallel_tool_calls" not in server.asked[1].body


def test_what_was_refused_is_tried_again_after_an_hour(server: OpenAIServer) -> None:
    strict = error("strict tools are not available for this model")
    server.canned += [strict, HI, HI, strict, HI, HI]
    for calls in (2, 3):
        ask(server)
        assert len(server.asked) == calls
    known = openai_chat._features[(server.url, "some/model")]
    openai_chat._features[(server.url, "some/model")] = replace(known, at=known.at - REMEMBERED_SECONDS)
    for calls in (5, 6):
        ask(server)
        assert len(server.asked) == calls
    tried = ["strict" in asked.body["tools"][0]["function"] for asked in server.asked]
    assert tried == [True, False, False, True, False, False]


def test_a_second_refusal_does_not_lengthen_the_hour_of_the_first(server: OpenAIServer) -> None:
    server.canned += [error("strict is unknown"), HI, error("tool_choice is unknown"), HI, HI]
    ask(server)
    known = openai_chat._features[(server.url, "some/model")]
    openai_chat._features[(server.url, "some/model")] = replace(known, at=known.at - REMEMBERED_SECONDS + 100)
    ask(server)
    known = openai_chat._features[(server.url, "some/model")]
    openai_chat._features[(server.url, "some/model")] = replace(known, at=known.at - 100)
    ask(server)
    assert "strict" in server.asked[-1].body["tools"][0]["function"]


@pytest.mark.parametrize(
    ("message", "number"),
    [
        ("max_tokens is too large: 32000. This model supports at most 16384 completion tokens, whereas you provided "
         "32000.", 16384),
        ("max_tokens: 32000 > 8192, which is the maximum allowed number of output tokens", 8192),
        ("Invalid max_tokens value, the valid range of max_tokens is [1, 20,480]", 20480),
        ("max_tokens is too large", 16000),
    ],
)  # fmt: skip
def test_a_number_that_is_too_large_is_lowered_and_keeps_its_name(
    server: OpenAIServer, message: str, number: int
) -> None:
    server.canned += [CUT, error(message), HI, HI]
    assert ask(server) == "Hi."
    ask(server)
    assert sent(server) == [("max_tokens", wanted) for wanted in (8000, 32000, number, 8000)]


def test_a_limit_below_what_was_cut_already_is_not_tried(server: OpenAIServer) -> None:
    server.canned += [CUT, error("max_tokens must be less than or equal to `8000`, the maximum value")]
    with pytest.raises(CutOff):
        ask(server)
    assert len(server.asked) == 2


def test_a_prompt_that_leaves_too_little_room_lowers_no_limit(server: OpenAIServer) -> None:
    message = (
        "'max_tokens' is too large: 8000. This model's maximum context length is 32768 tokens, 30000 in the messages"
    )
    assert isinstance(trouble(server, error(message)), BadRequest)
    server.canned.append(HI)
    ask(server)
    assert sent(server) == [("max_tokens", 8000)] * 2


def test_a_credit_that_is_too_small_for_a_longer_answer_refuses_no_key(server: OpenAIServer) -> None:
    server.canned += [CUT, error("This request requires more credits, or fewer max_tokens.", status=402)]
    with pytest.raises(CutOff):
        ask(server)


GUARDED = [
    "Request blocked: prompt injection patterns detected",
    "Blocked: the message holds an account number and an API key",
    "Your chosen model requires moderation and your input was flagged",
    "Content violates usage guidelines. API key ID: 1, failed check: SAFETY_CHECK_TYPE_BIO",
    "Guardrail 'pii' stopped this call",
]


@pytest.mark.parametrize("message", GUARDED)
def test_a_guardrail_refuses_the_text_and_not_the_key(server: OpenAIServer, message: str) -> None:
    assert isinstance(trouble(server, error(message, status=403, code="permission_denied")), ContentRefused)


@pytest.mark.parametrize("message", GUARDED)
def test_a_guardrail_inside_a_good_answer_does_so_too(server: OpenAIServer, message: str) -> None:
    assert isinstance(trouble(server, error(message, status=200, code=403)), ContentRefused)


@pytest.mark.parametrize(
    "body",
    [
        {"error": {"code": 403, "message": "No.", "metadata": {"reasons": ["x"], "flagged_input": "my key"}}},
        {"error": {"code": 403, "message": "No.", "metadata": {"flagged_input": "my account"}}},
        {"error": {"code": 400, "message": "No.", "innererror": {"code": "ResponsibleAIPolicyViolation"}}},
        {"error": {"code": "content_filter", "message": "No."}},
    ],
)
@pytest.mark.parametrize("status", [403, 400, 200])
def test_the_marks_of_a_moderation_refuse_the_text(server: OpenAIServer, body: Any, status: int) -> None:
    assert isinstance(trouble(server, Canned(body, status=status)), ContentRefused)


@pytest.mark.parametrize("status", [400, 403])
def test_a_customer_who_writes_of_flags_is_not_refused_for_it(server: OpenAIServer, status: int) -> None:
    wrote = "it was flagged by moderation"
    answer = error(f'The prompt "{wrote}" cannot be read.', status=status)
    assert isinstance(trouble(server, answer, [{"role": "user", "content": wrote}]), BadRequest)


@pytest.mark.parametrize(
    "message",
    [
        "Key limit exceeded (total limit)",
        "Your API key was reported as leaked.",
        "The account is deactivated",
        "Your newly created team doesn't have any credits yet",
        "Project proj_1 does not have access to this model",
        "You have insufficient permissions for this operation",
        "Country, region, or territory not supported",
    ],
)
def test_a_403_about_the_key_refuses_it(server: OpenAIServer, message: str) -> None:
    assert isinstance(trouble(server, error(message, status=403)), KeyRefused)


@pytest.mark.parametrize("status", [401, 402])
def test_a_401_and_a_402_refuse_it_whatever_they_say(server: OpenAIServer, status: int) -> None:
    assert isinstance(trouble(server, error("No.", status=status)), KeyRefused)


@pytest.mark.parametrize("body", ["", "<html>Access denied</html>", {"message": "Forbidden"}, {"error": "no"}, []])
def test_a_403_that_says_nothing_of_the_key_refuses_the_call(server: OpenAIServer, body: Any) -> None:
    assert isinstance(trouble(server, Canned(body, status=403)), BadRequest)


def test_a_403_that_repeats_what_a_customer_says_of_keys_refuses_the_call(server: OpenAIServer) -> None:
    wrote = [{"role": "user", "content": "The API key of my account was refused."}]
    answer = error("Cannot parse: The API key of my account was refused.", status=403)
    assert isinstance(trouble(server, answer, wrote), BadRequest)


def test_a_403_inside_a_good_answer_is_about_the_key_only_where_it_says_so(server: OpenAIServer) -> None:
    assert isinstance(trouble(server, error("Forbidden", status=200, code=403)), BadRequest)
    assert isinstance(trouble(server, error("Key limit exceeded", status=200, code=403)), KeyRefused)
    assert isinstance(trouble(server, error("No.", status=200, code=502)), Temporary)
