package config_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"presswork/internal/config"
)

func TestMisspeltSettingsAreFound(t *testing.T) {
	t.Parallel()
	got := config.Misspelt([]string{
		"API_PROT=9000", "PRESSWORK_API_PORT=9000", "REDIS_ULR=redis://r", "PRESSWORK_API_KEY=k", "API_KEY_FILE=/k",
		"API_PORT=8000", "HOME=/", "PATH=/bin", "LOG_LEVEL=debug", "LOGNAME=ann", "PRESSWORK_SHOE_SIZE=9", "API_KYE=x",
	})
	want := []config.Typo{
		{Name: "API_PROT", Meant: "API_PORT"},
		{Name: "PRESSWORK_API_PORT", Meant: "API_PORT"},
		{Name: "REDIS_ULR", Meant: "REDIS_URL"},
		{Name: "API_KYE", Meant: "API_KEY"},
	}

	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("Misspelt (-want +got):\n%s", diff)
	}
}
