#!/usr/bin/env node
import './compile-cache.mjs'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { programFolder } from './program-folder.mjs'

const bundle = join(programFolder(), 'main.mjs')
// Not as imports: those are read before anything is done.
if (existsSync(bundle)) await import(pathToFileURL(bundle).href)
else await import('../src/main.ts')
