"""A classifier of digits by ordinary convolutions, whose features also serve to compare sets of images.

Reference: M. Bronstein, J. Bruna, T. Cohen, P. Veličković, "Geometric Deep Learning" (2021), section 5.1, equations
27-29.
"""

from __future__ import annotations

from torch import Tensor, nn

from models.layers.global_pooling import GlobalMax


class PlainCNN(nn.Module):
    """A digit classifier: three blocks h = P(σ(F(x))) (eq. 29), then the maximum over all places.

    F is an ordinary convolution (eq. 28), F(x)_uvj = Σ_abc α_jabc x_{u+a, v+b, c}: it moves with shifts, and
    nothing ties its answer to a turned image to its answer to the image.
    """

    def __init__(self, channels: tuple[int, int, int] = (20, 28, 36)) -> None:
        super().__init__()
        a, b, c = channels
        self.conv1 = nn.Conv2d(1, a, 5, padding=2)
        self.norm1 = nn.BatchNorm2d(a)
        self.relu1 = nn.ReLU()
        self.pool1 = nn.AvgPool2d(3, stride=2, padding=1)
        self.conv2 = nn.Conv2d(a, b, 3, padding=1)
        self.norm2 = nn.BatchNorm2d(b)
        self.relu2 = nn.ReLU()
        self.pool2 = nn.AvgPool2d(3, stride=2, padding=1)
        self.conv3 = nn.Conv2d(b, c, 5, padding=2)
        self.norm3 = nn.BatchNorm2d(c)
        self.relu3 = nn.ReLU()
        self.global_pool = GlobalMax()
        self.head = nn.Linear(c, 10)

    def forward(self, x: Tensor) -> Tensor:
        """Return the scores of the ten digits, (N, 1, 29, 29) -> (N, 10)."""
        x = self.pool1(self.relu1(self.norm1(self.conv1(x))))  # (N, a, 15, 15)
        x = self.pool2(self.relu2(self.norm2(self.conv2(x))))  # (N, b, 8, 8)
        x = self.relu3(self.norm3(self.conv3(x)))  # (N, c, 8, 8)
        return self.head(self.global_pool(x))  # (N, c) -> (N, 10)
