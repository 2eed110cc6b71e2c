#!/usr/bin/env node
import './compile-cache.mjs'

// Not as an import: those are read before anything is done.
await import('../src/main.ts')
