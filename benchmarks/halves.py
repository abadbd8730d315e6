"""The data sets of `auto.py` and `choosing.py`, in two halves: one to choose by, one to report.

The candidates, the blend and the schedule of the default were chosen on CHOOSING alone; figures of the default
beside other libraries are those of REPORTING. Older settings were chosen before the sets were divided.
"""

# The folder's tables whose columns times classes are at most 250. EBM was not run to its end on the second
# list: stopped after 200 s of a fit or more (mushroom, robot_navigation, segment, vowel, waveform40, wine),
# or not begun, since these are as wide or have as many classes.
WITH_EBM = """
abalone adult anneal autos balance_scale breast_w car cmc connect_4 credit_a diabetes dry_bean ecoli
eucalyptus german_credit glass heart_cleveland heart_h hepatitis ionosphere iris kr_vs_kp led7
lymph mfeat_morphological new_thyroid poker_train seeds shuttle sick
sleep tae tic_tac_toe vehicle vote waveform21 wifi_localization wine_quality_red yeast zoo
""".split()  # noqa: SIM905  (forty lines otherwise)
WITHOUT_EBM = """
avila cardiotocography dermatology landsat mushroom pendigits robot_navigation segment steel_plates vowel
waveform40 wine
""".split()  # noqa: SIM905
SETS = sorted(WITH_EBM + WITHOUT_EBM)
CHOOSING, REPORTING = SETS[::2], SETS[1::2]
HALVES = {"choosing": CHOOSING, "reporting": REPORTING, "all": SETS}
