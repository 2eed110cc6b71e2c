/** The imports that the house rules are held to, beside those that another tool finds by resolving each. */
import { globSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { cruise } from 'dependency-cruiser'
import extractTSConfig from 'dependency-cruiser/config-utl/extract-ts-config'
import { expect, test } from 'vitest'
import { importsOf } from './import-graph.ts'

const root = join(import.meta.dirname, '..')

test('dependency-cruiser finds the same imports of files', async () => {
  const files = globSync('src/**/*.{ts,tsx}', { cwd: root })
  const sources = new Map<string, string>()
  for (const file of files) sources.set(file, await readFile(join(root, file), 'utf8'))
  const scanned = importsOf(sources).map(({ from, to }) => `${from} → ${to}`)
  const { output } = await cruise(
    ['src'],
    {
      baseDir: root,
      doNotFollow: { path: 'node_modules' },
      tsPreCompilationDeps: true,
      enhancedResolveOptions: { extensions: ['.ts', '.mjs', '.js', '.json'] },
    },
    {},
    { tsConfig: extractTSConfig(join(root, 'tsconfig.json')) },
  )
  if (typeof output === 'string') throw new TypeError('The checker gave text.')
  const resolved = output.modules
    .filter(({ source }) => sources.has(source))
    .flatMap(({ source, dependencies }) => dependencies.map((one) => `${source} → ${one.resolved}`))
  const ofFiles = (lines: readonly string[]) => [
    ...new Set(lines.filter((line) => / → (src|test|bench)\//.test(line)).toSorted()),
  ]
  expect(ofFiles(scanned)).toEqual(ofFiles(resolved))
  expect(ofFiles(resolved).length).toBeGreaterThan(2 * files.length)
})
