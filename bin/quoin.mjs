#!/usr/bin/env node
// Imports that an old Node cannot read come after the check: it would print a stack instead of the one line.
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { programFolder } from './program-folder.mjs'
import { isSupportedNode, unsupportedNode } from './supported-node.mjs'

if (isSupportedNode(process.versions.node)) {
  await import('./compile-cache.mjs')
  const bundle = join(programFolder(), 'main.mjs')
  if (existsSync(bundle)) await import(pathToFileURL(bundle).href)
  else await import('../src/main.ts')
} else {
  console.error(unsupportedNode(process.versions.node))
  process.exitCode = 1
}
