from rebelboost.cli import reproduce


def test_experiments_are_listed(rebel):
    done = rebel("reproduce", "--list")
    assert done.exit_code == 0
    assert "local_fig8" in done.stdout


def test_an_installed_package_says_where_the_experiments_are(rebel, monkeypatch, tmp_path):
    monkeypatch.setattr(reproduce, "BENCHMARKS", tmp_path)
    done = rebel("reproduce", "--all")
    assert done.exit_code == 2
    assert "clone the repository" in done.stderr


def test_absent_data_is_named_and_the_next_goes_on(rebel, monkeypatch, tmp_path):
    monkeypatch.setenv("REBELBOOST_DATA", str(tmp_path))
    done = rebel("reproduce", "ada_bound", "local_official", "--quick")
    assert done.exit_code == 1
    assert "ada_bound: not run" in done.stdout
    assert "local_official: not run" in done.stdout
    assert "heart_cleveland.npz is absent" in done.stdout
