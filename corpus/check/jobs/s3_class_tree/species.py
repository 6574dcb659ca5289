from dataclasses import dataclass, field
class Base:
    def describe(self):
        return f"{self.name} ({self.kind})"
@dataclass
class Species(Base):
    name: str
    kind: str = "bird"
    counts: list = field(default_factory=list)
    def __getattr__(self, item):
        return 0
tit = Species("tit", counts=[3, 4])
print(tit.describe(), sum(tit.counts), tit.unknown)
print(Species(*("owl", "bird")).describe())
