"""Programs that a replay has to call right, and some that it cannot run."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional


class Embedded(nn.Module):
    """Integer indices that must stay in range."""

    def __init__(self) -> None:
        super().__init__()
        self.table, self.out = nn.Embedding(10, 4), nn.Linear(4, 3)

    def forward(self, x: Tensor) -> Tensor:
        return self.out(self.table(x)).mean(1)


class Recurrent(nn.Module):
    """An LSTM, whose CPU kernel keeps what its backward reads only under grad mode."""

    def __init__(self) -> None:
        super().__init__()
        self.cell = nn.LSTM(4, 5, batch_first=True)

    def forward(self, x: Tensor) -> Tensor:
        return self.cell(x)[0]


class Tied(nn.Module):
    """One weight under two names: its gradient is the sum of two."""

    def __init__(self) -> None:
        super().__init__()
        self.table, self.out = nn.Embedding(10, 4), nn.Linear(4, 10, bias=False)
        self.out.weight = self.table.weight

    def forward(self, x: Tensor) -> Tensor:
        return self.out(self.table(x))


class Listing(nn.Module):
    """Python state that no graph can hold, and that nothing is computed from."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: list[int] = []
        self.calls = 0
        self.out = nn.Linear(4, 4)

    def forward(self, x: Tensor) -> Tensor:
        self.seen.append(x.shape[-1])
        self.calls += 1
        return self.out(x)


class Viewing(nn.Module):
    """Outputs that are views: of another output, and of the input."""

    def __init__(self) -> None:
        super().__init__()
        self.out = nn.Linear(4, 4)

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        y = self.out(x)
        return y, y.t(), x.view(-1)


def masked(x: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
    """A boolean mask."""
    return torch.where(mask, x, 0.0).sum(0), x.masked_fill(~mask, -1.0)


def indexed(x: Tensor, index: Tensor) -> tuple[Tensor, Tensor]:
    """An index tensor: permuted it is still one."""
    return x[index], x.gather(0, index[:, None].expand(-1, x.shape[1]))


def written(x: Tensor, y: Tensor) -> Tensor:
    """Writes to an input, whole and through a view."""
    x.mul_(2)
    x[0] = y
    return x.sum()


def stepped(parameter: Tensor, grad: Tensor) -> None:
    """A write that no_grad allows the program."""
    with torch.no_grad():
        parameter.add_(grad, alpha=-0.1)


def sampled(x: Tensor) -> tuple[Tensor, Tensor]:
    """Random draws of two kinds."""
    return functional.dropout(x, 0.5), torch.rand(3) * torch.bernoulli(x[0, :3].sigmoid())


def sorted_(x: Tensor) -> Any:
    """Integer outputs that depend on floats."""
    return x.sort(), x.topk(2), x.argmax()


def nested(batch: dict[str, Any]) -> dict[str, Any]:
    """A pytree in, another out; one leaf is no tensor."""
    return {"a": batch["x"] + batch["y"][0], "b": [batch["x"], None, 3]}


def programs() -> dict[str, tuple[Any, tuple[Any, ...]]]:
    """Make every program with its arguments; new modules each time."""
    torch.manual_seed(0)
    words, rows = torch.tensor([[1, 2], [3, 9]]), torch.randn(3, 4)
    return {
        "embedding": (Embedded(), (words,)),
        "masked": (masked, (rows, rows > 0)),
        "indexed": (indexed, (rows, torch.tensor([0, 2, 1]))),
        "recurrent": (Recurrent(), (torch.randn(2, 3, 4),)),
        "tied": (Tied(), (words,)),
        "dropout": (nn.Sequential(nn.Linear(4, 4), nn.Dropout(0.5), nn.Linear(4, 4)), (torch.ones(3, 4),)),
        "batch-norm": (nn.Sequential(nn.Linear(4, 4), nn.BatchNorm1d(4), nn.ReLU()), (rows,)),
        "viewing": (Viewing(), (rows,)),
        "listing": (Listing(), (rows,)),
        "written": (written, (torch.ones(3, 4), torch.zeros(4))),
        "stepped": (stepped, (nn.Parameter(torch.ones(4)), torch.ones(4))),
        "sampled": (sampled, (rows,)),
        "sorted": (sorted_, (rows,)),
        "nested": (nested, ({"x": torch.ones(3), "y": [torch.ones(3)]},)),
        "attention": (nn.TransformerEncoderLayer(8, 2, 16, batch_first=True), (torch.randn(2, 3, 8),)),
    }
