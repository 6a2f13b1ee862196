"""What a model was really shown, recorded at the call."""

from harness.recording.complaints import RecordingWarning as RecordingWarning
from harness.recording.recorder import Recorder as Recorder
from harness.recording.sessions import session as session
from harness.recording.wrapping import wrap as wrap
