"""What guidelines and laws ask of a model's documentation: their items, and which facts answer them.

Numbers and short titles follow the published documents; the wording of what a person has to add is ours. Each
guideline says what must be checked against its current text.
"""

from typing import NamedTuple


class Item(NamedTuple):
    """An item of a guideline."""

    number: str
    title: str
    facts: tuple[str, ...] = ()
    """Names in `rebelboost.report.statements.STATEMENTS`."""
    person: str = ""
    """What only a person can say; empty if the facts are all."""


class Part(NamedTuple):
    """A part of a guideline."""

    title: str
    items: tuple[Item, ...]


class Guideline(NamedTuple):
    """A guideline, and what the page says of it."""

    title: str
    about: str
    parts: tuple[Part, ...]

    @property
    def items(self) -> tuple[Item, ...]:
        """All items."""
        return tuple(item for part in self.parts for item in part.items)


CHECK = (
    "Item numbers and short titles are given as we know them. Check them against the current text before you "
    "submit or file anything; this page is no legal advice."
)

CARD = Guideline(
    "Model card",
    "Sections as in Mitchell et al., Model Cards for Model Reporting (2019).",
    (
        Part(
            "Model card",
            (
                Item(
                    "1",
                    "Model details",
                    ("identity", "training", "reproduction"),
                    "Who developed the model, its licence, and whom to ask.",
                ),
                Item(
                    "2", "Intended use", ("output",), "Uses, users, and uses that are out of scope."
                ),
                Item(
                    "3",
                    "Factors",
                    ("columns",),
                    "Groups of people, instruments and environments that matter for the results.",
                ),
                Item("4", "Metrics", ("measures",), ""),
                Item("5", "Evaluation data", ("evaluation_data",), "Why these data were chosen."),
                Item(
                    "6",
                    "Training data",
                    ("source", "classes", "missing"),
                    "How they were collected.",
                ),
                Item(
                    "7", "Quantitative analyses", ("performance", "confusion", "prices", "groups")
                ),
                Item(
                    "8", "Ethical considerations", (), "Risks, harms, sensitive data and remedies."
                ),
                Item(
                    "9", "Caveats and recommendations", ("limits", "monitoring"), "Anything else."
                ),
            ),
        ),
    ),
)

CLINIC = Guideline(
    "TRIPOD+AI",
    f"The checklist for prediction models in medicine (Collins et al., BMJ 2024;385:e078378). {CHECK}",
    (
        Part(
            "Title and abstract",
            (
                Item(
                    "1",
                    "Title",
                    ("identity",),
                    "The target population and the outcome, in the title.",
                ),
                Item(
                    "2",
                    "Abstract",
                    (),
                    "The abstract; TRIPOD+AI has a checklist of its own for it.",
                ),
            ),
        ),
        Part(
            "Introduction",
            (
                Item(
                    "3a–3c",
                    "Background",
                    (),
                    "Healthcare context and rationale; target population, place in the care pathway and users; "
                    "known health inequalities.",
                ),
                Item(
                    "4",
                    "Objectives",
                    (),
                    "Whether the study develops a model, evaluates it, or both.",
                ),
            ),
        ),
        Part(
            "Methods",
            (
                Item(
                    "5a, 5b",
                    "Data",
                    ("source", "evaluation_data"),
                    "Sources of the data, why they were used, how representative they are; dates of "
                    "accrual and follow-up.",
                ),
                Item(
                    "6a–6c",
                    "Participants",
                    (),
                    "Setting, number and location of centres; eligibility; treatments.",
                ),
                Item(
                    "7", "Data preparation", ("preparation",), "Cleaning before the table was made."
                ),
                Item(
                    "8a–8c",
                    "Outcome",
                    ("classes",),
                    "How and when the outcome was assessed, by whom, and what they knew of the predictors.",
                ),
                Item(
                    "9a–9c",
                    "Predictors",
                    ("columns",),
                    "Why these predictors; how, when and by whom they were measured.",
                ),
                Item(
                    "10",
                    "Sample size",
                    ("sizes",),
                    "How the size was arrived at, and why it is sufficient.",
                ),
                Item("11", "Missing data", ("missing",), "Why values are missing."),
                Item(
                    "12a–12g",
                    "Analytical methods",
                    ("training", "evaluation_data", "measures"),
                    "Deviations from what the software does by itself.",
                ),
                Item("13", "Class imbalance", ("balance",)),
                Item("14", "Fairness", ("groups",), "Approaches to fairness, and their rationale."),
                Item("15", "Model output", ("output",), "How thresholds and costs were chosen."),
                Item(
                    "16",
                    "Training versus evaluation",
                    ("evaluation_data", "monitoring"),
                    "Differences in setting, eligibility, outcome and predictors.",
                ),
                Item("17", "Ethical approval", (), "Committee, approval and consent."),
            ),
        ),
        Part(
            "Open science",
            (
                Item("18a", "Funding", (), "Sources of funding, and the role of the funders."),
                Item("18b", "Conflicts of interest", (), "Of all authors."),
                Item("18c", "Protocol", (), "Where it is, or that there was none."),
                Item(
                    "18d", "Registration", (), "Register and number, or that it was not registered."
                ),
                Item("18e", "Data sharing", (), "Whether and where the data are available."),
                Item("18f", "Code sharing", ("reproduction",), "Where the code is available."),
            ),
        ),
        Part(
            "Patient and public involvement",
            (Item("19", "Patient and public involvement", (), "Details, or that there was none."),),
        ),
        Part(
            "Results",
            (
                Item(
                    "20a–20c",
                    "Participants",
                    ("classes", "missing"),
                    "Flow of participants; characteristics, also of key groups and of the evaluation data.",
                ),
                Item("21", "Model development", ("sizes",)),
                Item(
                    "22",
                    "Model specification",
                    ("specification",),
                    "Where the model can be obtained.",
                ),
                Item("23a, 23b", "Model performance", ("performance", "confusion", "groups")),
                Item("24", "Model updating", ("updating",), "Any updating, and its results."),
            ),
        ),
        Part(
            "Discussion",
            (
                Item(
                    "25", "Interpretation", (), "In the context of other studies, and of fairness."
                ),
                Item("26", "Limitations", ("limits",), "Of the study as a whole."),
                Item(
                    "27a–27c",
                    "Usability of the model in the context of current care",
                    ("missing", "monitoring"),
                    "Poor or missing inputs in practice; expertise of users; next steps of research.",
                ),
            ),
        ),
    ),
)

REASONS = (
    "Credit application incomplete; insufficient number of credit references provided; unacceptable "
    "type of credit references provided; unable to verify credit references; temporary or irregular "
    "employment; unable to verify employment; length of employment; income insufficient for amount of "
    "credit requested; excessive obligations in relation to income; unable to verify income; length of "
    "residence; temporary residence; unable to verify residence; no credit file; limited credit "
    "experience; poor credit performance with us; delinquent past or present credit obligations with "
    "others; collection action or judgment; garnishment or attachment; foreclosure or repossession; "
    "bankruptcy; number of recent inquiries on credit bureau report; value or type of collateral not "
    "sufficient; other, specify."
)

CREDIT = Guideline(
    "Regulation B and SR 26-2",
    "Adverse action under Regulation B (12 CFR 1002.9, Form C-1 in Appendix C), and model risk "
    f"management under SR 26-2 (17 April 2026, in place of SR 11-7), whose themes are listed without "
    f"numbers. {CHECK}",
    (
        Part(
            "Regulation B, 12 CFR 1002",
            (
                Item(
                    "1002.2(p)",
                    "Empirically derived, demonstrably and statistically sound credit scoring system",
                    ("source", "sizes", "evaluation_data", "performance"),
                    "That the data are of creditworthy and other applicants of a reasonable preceding "
                    "period, and that the system is revalidated.",
                ),
                Item(
                    "1002.6(b)",
                    "Use of information: prohibited bases, age",
                    ("columns",),
                    "That no column is a prohibited basis or stands for one; how age is used, if it is.",
                ),
                Item(
                    "1002.9(a)(1)",
                    "When notification is required",
                    (),
                    "The process, and its times.",
                ),
                Item(
                    "1002.9(a)(2)",
                    "Content of the notification when adverse action is taken",
                    (),
                    "Statement of the action, the creditor's name and address, the notice under "
                    "1002.9(b)(1), the federal agency, and the reasons or the right to them.",
                ),
                Item(
                    "1002.9(b)(2)",
                    "Statement of specific reasons",
                    ("reasons",),
                    "The reason of Form C-1, or your own words, for each column below.",
                ),
                Item("App. C, Form C-1", "Sample reasons", ("form_c1",), ""),
                Item(
                    "1002.9(c)–(g)",
                    "Incomplete applications, oral notifications, withdrawals, multiple applicants, "
                    "third parties",
                    (),
                    "The process.",
                ),
                Item(
                    "1002.12", "Record retention", ("reproduction",), "Where the records are kept."
                ),
                Item(
                    "–",
                    "Results by group",
                    ("groups",),
                    "Analysis of disparate impact, and of less discriminatory alternatives.",
                ),
            ),
        ),
        Part(
            "SR 26-2: model development, implementation and use",
            (
                Item(
                    "–",
                    "Purpose and use",
                    ("identity", "output"),
                    "Purpose, users, and materiality.",
                ),
                Item(
                    "–",
                    "Data and their quality",
                    ("source", "preparation", "missing"),
                    "Whether the data suit the purpose.",
                ),
                Item(
                    "–",
                    "Design and methods",
                    ("training", "specification", "reproduction"),
                    "Alternatives that were considered.",
                ),
                Item("–", "Testing", ("performance", "confusion", "prices"), ""),
                Item(
                    "–",
                    "Assumptions and limitations",
                    ("limits",),
                    "Expert adjustments and overlays.",
                ),
            ),
        ),
        Part(
            "SR 26-2: validation and ongoing monitoring",
            (
                Item(
                    "–",
                    "Conceptual soundness and outcomes analysis",
                    ("evaluation_data", "measures"),
                    "Independent review: by whom, when, and what it found.",
                ),
                Item(
                    "–",
                    "Ongoing monitoring",
                    ("monitoring",),
                    "Frequency, thresholds and escalation.",
                ),
            ),
        ),
        Part(
            "SR 26-2: governance, policies and controls",
            (
                Item(
                    "–",
                    "Roles, inventory and change control",
                    (),
                    "Owner, entry in the inventory, approvals.",
                ),
                Item(
                    "–", "Third-party software", ("software",), "Your own review of the software."
                ),
            ),
        ),
    ),
)

EU = Guideline(
    "EU AI Act, Annex IV",
    "Technical documentation of high-risk AI systems (Regulation (EU) 2024/1689, Article 11(1), Annex IV). "
    f"{CHECK}",
    (
        Part(
            "1. General description of the AI system",
            (
                Item(
                    "1(a)",
                    "Intended purpose, provider, version",
                    ("identity",),
                    "The intended purpose, the name of the provider, and the version beside previous ones.",
                ),
                Item(
                    "1(b)",
                    "Interaction with hardware, software and other AI systems",
                    (),
                    "If any.",
                ),
                Item("1(c)", "Versions of relevant software or firmware", ("software",), ""),
                Item(
                    "1(d)",
                    "Forms in which it is placed on the market",
                    ("forms",),
                    "Which are used.",
                ),
                Item("1(e)", "Hardware on which it is intended to run", (), "The hardware."),
                Item(
                    "1(f)",
                    "Products of which it is a component",
                    (),
                    "Photographs or illustrations, if any.",
                ),
                Item("1(g)", "User interface provided to the deployer", (), "A basic description."),
                Item("1(h)", "Instructions for use", (), "The instructions."),
            ),
        ),
        Part(
            "2. Elements of the AI system, and the process of its development",
            (
                Item(
                    "2(a)",
                    "Methods and steps of the development",
                    ("training", "reproduction"),
                    "Pre-trained systems or tools of third parties, if any.",
                ),
                Item(
                    "2(b)",
                    "Design specifications: general logic, key design choices, what is optimised",
                    ("specification", "output"),
                    "Rationale and assumptions, also with regard to the persons concerned.",
                ),
                Item(
                    "2(c)",
                    "System architecture, and computational resources",
                    ("specification", "resources"),
                    "How the software components build on each other.",
                ),
                Item(
                    "2(d)",
                    "Data requirements: training data, provenance, labelling, cleaning",
                    ("source", "classes", "columns", "preparation", "missing"),
                    "Provenance, scope and selection; how the labels were obtained.",
                ),
                Item(
                    "2(e)",
                    "Human oversight measures under Article 14",
                    ("oversight",),
                    "The measures.",
                ),
                Item("2(f)", "Pre-determined changes", (), "If any."),
                Item(
                    "2(g)",
                    "Validation and testing: data, metrics, results, discriminatory impacts",
                    ("evaluation_data", "performance", "confusion", "groups"),
                    "Test logs and reports, dated and signed by the responsible persons.",
                ),
                Item(
                    "2(h)", "Cybersecurity measures", ("security",), "The measures in your system."
                ),
            ),
        ),
        Part(
            "3. Monitoring, functioning and control",
            (
                Item(
                    "3",
                    "Capabilities and limitations, accuracy for groups, unintended outcomes, input data",
                    ("performance", "groups", "limits", "columns"),
                    "Foreseeable unintended outcomes and risks to health, safety, rights and of "
                    "discrimination.",
                ),
            ),
        ),
        Part(
            "4 to 9",
            (
                Item(
                    "4",
                    "Appropriateness of the performance metrics",
                    ("measures",),
                    "Why they suit the system.",
                ),
                Item("5", "Risk management system under Article 9", (), "Its description."),
                Item(
                    "6",
                    "Changes through the lifecycle",
                    ("updating",),
                    "The changes made by the provider.",
                ),
                Item(
                    "7",
                    "Harmonised standards applied",
                    (),
                    "The list, or the solutions adopted instead.",
                ),
                Item("8", "EU declaration of conformity", (), "A copy."),
                Item(
                    "9",
                    "Post-market monitoring under Article 72",
                    ("monitoring",),
                    "The system, and the post-market monitoring plan.",
                ),
            ),
        ),
    ),
)

GUIDELINES = {"card": CARD, "clinic": CLINIC, "credit": CREDIT, "eu": EU}
