# scripts/release.sh fills in version, addresses and digests.
class Presswork < Formula
  desc "Markdown in, beautiful PDF out"
  homepage "https://github.com/REPOSITORY"
  version "VERSION"
  license "MIT"

  on_macos do
    on_arm do
      url "RELEASES/presswork_VERSION_darwin_arm64.tar.gz"
      sha256 "SHA256_darwin_arm64"
    end
    on_intel do
      url "RELEASES/presswork_VERSION_darwin_amd64.tar.gz"
      sha256 "SHA256_darwin_amd64"
    end
  end

  on_linux do
    on_arm do
      url "RELEASES/presswork_VERSION_linux_arm64.tar.gz"
      sha256 "SHA256_linux_arm64"
    end
    on_intel do
      url "RELEASES/presswork_VERSION_linux_amd64.tar.gz"
      sha256 "SHA256_linux_amd64"
    end
  end

  def install
    bin.install "presswork"
    man1.install "presswork.1.gz"
    bash_completion.install "completions/presswork.bash" => "presswork"
    zsh_completion.install "completions/presswork.zsh" => "_presswork"
    fish_completion.install "completions/presswork.fish"
  end

  def caveats
    "Presswork prints with Chromium or Google Chrome: brew install --cask google-chrome"
  end

  test do
    assert_match version.to_s, shell_output("#{bin}/presswork version")
    (testpath/"a.md").write "# Hi\n"
    system bin/"presswork", "md2pdf", "a.md", "--html"
  end
end
