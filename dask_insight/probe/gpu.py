"""Every GPU that this process may use, as NVML knows it."""

from __future__ import annotations

import os
from typing import Any, NamedTuple

#: What is lacking where CUDA counts GPUs of several kinds in its own order, and NVML by their places.
_UNCLEAR = (
    "which of these GPUs this process uses is not known: set CUDA_DEVICE_ORDER=PCI_BUS_ID, "
    "or name it by its UUID in CUDA_VISIBLE_DEVICES"
)


class Device(NamedTuple):
    """One GPU."""

    number: int
    name: str
    handle: Any


class Gpus:
    """Samples the visible GPUs; empty where there is no NVML. `reason` says what is lacking, and why.

    Parameters
    ----------
    one
        Of several that CUDA_VISIBLE_DEVICES names the first alone, unless they are parts of GPUs; see
        `has_one`.
    """

    def __init__(self, one: bool = False) -> None:
        self._one = one
        self.reason = ""
        self.devices: list[Device] = []
        self._nvml: Any = None
        try:
            import pynvml

            pynvml.nvmlInit()
            self._nvml = pynvml
            self.devices = self._visible()
        except ImportError:
            self.reason = "no NVML: install nvidia-ml-py where GPUs are to be watched"
        except Exception as error:
            self.reason = f"no NVML: {error}"

    def _visible(self) -> list[Device]:
        found = self._found()
        visible = os.environ.get("CUDA_VISIBLE_DEVICES")
        mine = chosen(found, visible)
        # Of a part of a GPU it is not known here whose it is.
        if self._one and visible is not None and not visible.lstrip().startswith("MIG-"):
            mine = mine[:1]
        if visible is None or not 0 < len(mine) < len(found) or not _unclear(found, visible):
            return mine
        self._lack(_UNCLEAR)
        return found

    def _found(self) -> list[Device]:
        """All GPUs of the host but those that are broken, or another's."""
        found: list[Device] = []
        for index in range(self._nvml.nvmlDeviceGetCount()):
            try:
                found.append(self._device(index))
            except Exception as error:
                self._lack(f"GPU {index}: {error}")
        return found

    def _device(self, index: int) -> Device:
        handle = self._nvml.nvmlDeviceGetHandleByIndex(index)
        name, uuid = self._nvml.nvmlDeviceGetName(handle), self._nvml.nvmlDeviceGetUUID(handle)
        return Device(index, f"{_text(name)} {_text(uuid)}", handle)

    def _lack(self, what: str) -> None:
        self.reason = f"{self.reason}; {what}" if self.reason else what

    def sample(self, now: float) -> list[dict[str, Any]]:
        """One row of `gpus` for each device; a figure that cannot be had is NaN."""
        rows = []
        for device in self.devices:
            row: dict[str, Any] = {"time": now, "index": device.number, "name": device.name}
            row["utilization"] = _tried(
                lambda d=device: self._nvml.nvmlDeviceGetUtilizationRates(d.handle).gpu
            )
            memory = _tried(lambda d=device: self._nvml.nvmlDeviceGetMemoryInfo(d.handle), None)
            row["memory"] = float(memory.used) if memory else float("nan")
            row["memory_total"] = float(memory.total) if memory else float("nan")
            rows.append(row)
        return rows

    def close(self) -> None:
        """Let go of NVML."""
        if self._nvml is not None:
            _tried(self._nvml.nvmlShutdown)
            self._nvml, self.devices = None, []


def has_one(worker: Any) -> bool:
    """Whether a worker is to use one GPU: to Dask-CUDA's, all of their host are visible, their own first."""
    return any(type(each).__module__.split(".")[0] == "dask_cuda" for each in list(worker.plugins.values()))


def chosen(devices: list[Device], visible: str | None) -> list[Device]:
    """The devices that CUDA_VISIBLE_DEVICES names, by index or UUID, up to the first name that fits none."""
    if visible is None:
        return devices
    found: list[Device] = []
    for name in (part.strip() for part in visible.split(",")):
        fitting = [
            device
            for device in devices
            if name and (str(device.number) == name or device.name.rsplit(" ", 1)[1].startswith(name))
        ]
        if not fitting and name.startswith("MIG-"):
            fitting = [device for device in devices if device not in found][:1]
        if not fitting:
            break
        found.extend(device for device in fitting[:1] if device not in found)
    return found


def _unclear(devices: list[Device], visible: str) -> bool:
    """Whether CUDA_VISIBLE_DEVICES may count them otherwise than NVML: by default the fastest comes first."""
    by_index = any(name.strip().isdecimal() for name in visible.split(","))
    kinds = {device.name.rsplit(" ", 1)[0] for device in devices}
    return by_index and len(kinds) > 1 and os.environ.get("CUDA_DEVICE_ORDER") != "PCI_BUS_ID"


def _tried(call: Any, otherwise: Any = float("nan")) -> Any:
    try:
        return call()
    except Exception:
        return otherwise


def _text(value: Any) -> str:
    return value.decode() if isinstance(value, bytes) else str(value)
