"""The cases of unusual streams, failures and time-outs."""
import time

from rows import asked, client, content_of, failure, left, row, user
from sdk_ask import create, error_of, groq, open_sdk, sdk, sdk_module


@row("E32")
def _():
    for scenario in ["crlf", "bare", "noisy", "no-done", "no-end", "two-lines", "split-bytes"]:
        assert content_of(create(scenario, stream=True)) == "Grüße, 世界!", scenario


@row("E33")
def _():
    text = 'a\u2028b\u2029c\u0085d\n\ne\r\nf\u0000g data: [DONE]\n\n 𝄞"\\'
    assert content_of(create("echo", messages=user(text), stream=True)) == text


@row("E34")
def _():
    assert content_of(create("late:11s", stream=True)) == "Hello, world!"


@row("E35")
def _():
    assert len(content_of(create("big-line", stream=True))) == 16 * 90_000


@row("E36")
def _():
    for scenario in ["cut", "error-frame", "cut-clean"]:
        got = []

        def read():
            for c in create(scenario, stream=True):
                got.append(c)

        e = failure(read)
        assert isinstance(e, sdk_module.APIError) and content_of(got).startswith("Hello"), scenario
        assert "model's server" in str(e), (scenario, e)


@row("E37")
def _():
    stream = create("hello", stream=True)
    list(stream)
    stream.close()
    stream.close()


@row("F38")
def _():
    e = failure(lambda: create("hello", open_sdk(api_key="wrong")))
    assert isinstance(e, sdk_module.AuthenticationError) and error_of(e)["code"] == "invalid_api_key"
    if not groq:
        assert e.request_id.startswith("req_")


@row("F39")
def _():
    e = failure(lambda: create("hello", model="nothing"))
    assert isinstance(e, sdk_module.NotFoundError) and error_of(e)["code"] == "model_not_found"
    if not groq:
        assert (e.type, e.param) == ("invalid_request_error", "model")


@row("F40")
def _():
    e = failure(lambda: sdk.get(("/openai/v1" if groq else "") + "/nowhere", cast_to=object))
    assert isinstance(e, sdk_module.NotFoundError) and error_of(e)["code"] == "unknown_url"


@row("F41")
def _():
    e = failure(lambda: create("hello", messages=user("x" * (50 << 20))))
    assert e.status_code == 413 and error_of(e)["code"] == "content_too_large"


@row("F42")
def _():
    for body, param in [({"messages": []}, "messages"), ({"temperature": 3}, "temperature"), ({"n": 2}, "n"),
                        ({"messages": [{"role": "wizard", "content": "x"}]}, "messages[0].role")]:
        e = failure(lambda: create("hello", **body))
        assert isinstance(e, sdk_module.BadRequestError) and error_of(e)["param"] == param


@row("F43")
def _():
    # The key allows one request at a time. The stream uses it until the server rejects the client with retries.
    stream = create("hang-middle:slow", open_sdk(api_key=f"slow-{client}"), stream=True)
    next(stream)
    rejected = failure(lambda: create("hello", open_sdk(api_key=f"slow-{client}")))
    assert isinstance(rejected, sdk_module.RateLimitError) and int(rejected.response.headers["retry-after"]) >= 1
    http = sdk_module.DefaultHttpxClient(event_hooks={"response": [lambda r: r.status_code == 429 and stream.close()]})
    began = time.monotonic()
    assert create("hello", open_sdk(api_key=f"slow-{client}", max_retries=20, http_client=http)).choices[0].message.content == "Hello, world!"
    assert time.monotonic() - began >= 0.9, "the client did not wait for retry-after"


@row("F44")
def _():
    def expect(scenario, cls, status, retries):
        tries = []
        http = sdk_module.DefaultHttpxClient(event_hooks={"request": [lambda r: tries.append(r.headers["x-stainless-retry-count"])]})
        e = failure(lambda: create(scenario, open_sdk(max_retries=2, http_client=http)))
        assert isinstance(e, cls) and e.status_code == status, (scenario, e)
        assert tries == ["0", "1", "2"][: retries + 1], (scenario, tries)
        assert "127.0.0.1" not in str(e.body), "the error reveals an internal address"

    server = sdk_module.InternalServerError
    expect("status:500", server, 502, 2)
    expect("status:401", server, 502, 0)
    expect("status:404", server, 502, 0)
    expect("status:422", sdk_module.UnprocessableEntityError, 422, 0)
    expect("html", server, 502, 2)
    expect("garbage", server, 502, 2)
    expect("context", sdk_module.BadRequestError, 400, 0)


@row("F45")
def _():
    running = create("narrow", stream=True)
    next(running)
    e = failure(lambda: create("narrow", timeout=0.5))
    assert isinstance(e, sdk_module.APITimeoutError) or e.status_code == 504, e
    time.sleep(5)  # the server checks every few seconds whether the client is connected
    running.close()
    create("narrow", max_tokens=7)
    assert len(asked("hang-once")) == 2, "a request without a caller reached the model"


@row("F46")
def _():
    while not asked("hang"):  # the request must reach the model before it can be cancelled
        e = failure(lambda: create("hang", timeout=1))
        assert isinstance(e, sdk_module.APITimeoutError) or e.status_code == 504, e
    left("hang")
