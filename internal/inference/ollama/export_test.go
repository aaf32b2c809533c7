package ollama

import "presswork/internal/test/wait"

func init() { lookTimeout = wait.Patience }
