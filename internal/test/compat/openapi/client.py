"""Checks the generated client: a conversion, an export, themes and completions."""

import os
import time

from presswork_client import AuthenticatedClient
from presswork_client.api.artifacts import delete_artifact, download_artifact
from presswork_client.api.conversion import get_job, submit_conversion
from presswork_client.api.export import export_pdf
from presswork_client.api.inference import create_chat_completion, list_models
from presswork_client.api.themes import get_theme, list_themes
from presswork_client.models import ChatCompletionRequest, ChatMessage, ChatMessageRole, Conversion, PDFExport, Status

client = AuthenticatedClient(base_url=os.environ["COMPAT_BASE"], token=os.environ["COMPAT_KEY"], raise_on_unexpected_status=True, timeout=90)

accepted = submit_conversion.sync(client=client, body=Conversion(content="# Generated", theme="nord", filename="made.pdf"))
deadline = time.monotonic() + 90
while (job := get_job.sync(accepted.job_id, client=client, wait="30s")).status in (Status.QUEUED, Status.PROCESSING):
    assert time.monotonic() < deadline, job
assert job.status == Status.COMPLETED, job
pdf = download_artifact.sync(job.artifact.id, client=client).payload.read()
assert pdf.startswith(b"%PDF-") and len(pdf) == job.artifact.size and job.artifact.filename == "made.pdf", job
assert delete_artifact.sync_detailed(job.artifact.id, client=client).status_code == 204

waited = submit_conversion.sync(client=client, body=Conversion(content="# Waited for"), prefer="wait=60")
assert waited.payload.read().startswith(b"%PDF-"), waited

rejected = submit_conversion.sync(client=client, body=Conversion(content="# Hi", theme="nrod"))
assert rejected.error.code == "theme_not_found", rejected
rejected = export_pdf.sync(client=client, body=PDFExport(url="http://127.0.0.1/"))
assert rejected.error.code == "address_not_allowed", rejected

themes = list_themes.sync(client=client)
assert themes.count == len(themes.themes) and get_theme.sync(themes.default, client=client).name == themes.default

assert [m.id for m in list_models.sync(client=client).data] == ["hello"]
question = ChatMessage(role=ChatMessageRole.USER, content="Say hi")
completion = create_chat_completion.sync(client=client, body=ChatCompletionRequest(model="hello", messages=[question]))
assert completion.choices[0].message.content, completion
missing = create_chat_completion.sync(client=client, body=ChatCompletionRequest(model="none", messages=[question]))
assert missing.error.code == "model_not_found", missing
