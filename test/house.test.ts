import { globSync } from 'node:fs'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { cruise } from 'dependency-cruiser'
import extractTSConfig from 'dependency-cruiser/config-utl/extract-ts-config'
import { expect, test } from 'vitest'

const root = join(import.meta.dirname, '..')
const sources = globSync('{src,test,bench,scripts,examples}/**/*.{ts,mjs,sh}', { cwd: root })
const inSource = sources.filter((file) => file.startsWith('src/') && file.endsWith('.ts'))

test('the arrow holds and nothing imports in a circle', async () => {
  const { forbidden, options } = JSON.parse(await readFile(join(root, '.dependency-cruiser.json'), 'utf8'))
  const tsConfig = extractTSConfig(join(root, 'tsconfig.json'))
  const { output } = await cruise(
    ['src'],
    { ...options, baseDir: root, ruleSet: { forbidden }, validate: true },
    {},
    { tsConfig },
  )
  if (typeof output === 'string') throw new TypeError('The checker gave text.')
  const lines = output.summary.violations.map(({ rule, from, to }) => `${rule.name}: ${from} → ${to}`)
  expect(lines).toEqual([])
  // With the wrong TypeScript installed the checker sees nothing and is content: it must have seen every file.
  const seen = new Set(output.modules.map((module) => module.source))
  expect(inSource.filter((file) => !seen.has(file))).toEqual([])
  expect(output.summary.totalDependenciesCruised ?? 0).toBeGreaterThan(inSource.length)
})

test('the checker of the arrow can fail', async () => {
  const { options } = JSON.parse(await readFile(join(root, '.dependency-cruiser.json'), 'utf8'))
  const upward = {
    name: 'control',
    severity: 'error' as const,
    from: { path: '^src/quoin' },
    to: { path: '^src/storage' },
  }
  const ruleSet = { forbidden: [upward] }
  const { output } = await cruise(['src/quoin/quoin.ts'], {
    ...options,
    baseDir: root,
    ruleSet,
    validate: true,
  })
  expect(typeof output === 'string' ? 0 : output.summary.error).toBeGreaterThan(0)
})

test('no file has more than 500 lines, and half of them at most 120', async () => {
  const lengths = await Promise.all(
    sources.map(async (file) => ({
      file,
      lines: (await readFile(join(root, file), 'utf8')).split('\n').length - 1,
    })),
  )
  expect(lengths.filter(({ lines }) => lines > 500)).toEqual([])
  const source = lengths.filter(({ file }) => inSource.includes(file)).map(({ lines }) => lines)
  source.sort((a, b) => a - b)
  expect(source[Math.floor(source.length / 2)]).toBeLessThanOrEqual(120)
})

test('files are named for what is in them', () => {
  const forbidden = /^(utils?|helpers?|types?|managers?|index|misc|common)\./
  expect(sources.filter((file) => forbidden.test(basename(file)))).toEqual([])
  const odd = inSource.filter(
    (file) => !/^src\/blocks\/[a-z]+\//.test(file) && !/^[a-z0-9-]+(\.[a-z]+)*\.ts$/.test(basename(file)),
  )
  expect(odd).toEqual([])
})

test('nothing but the table of options reads the environment', async () => {
  const reading: string[] = []
  for (const file of inSource) {
    if (file === 'src/options.ts') continue
    if ((await readFile(join(root, file), 'utf8')).includes('process.env')) reading.push(file)
  }
  expect(reading).toEqual([])
})

test('an engine of storage that imports the other one is found', async () => {
  const { forbidden, options } = JSON.parse(await readFile(join(root, '.dependency-cruiser.json'), 'utf8'))
  const baseDir = await mkdtemp(join(tmpdir(), 'quoin-house-'))
  try {
    for (const [file, text] of [
      ['sqlite/core/a.ts', "import '../../postgres/core/b.ts'"],
      ['postgres/core/b.ts', "import '../../sqlite/sql/c.ts'"],
      ['sqlite/sql/c.ts', 'export {}'],
    ] as const) {
      const path = join(baseDir, 'src/storage', file)
      await mkdir(dirname(path), { recursive: true })
      await writeFile(path, text)
    }
    const { tsConfig: _, ...plain } = options
    const { output } = await cruise(['src'], { ...plain, baseDir, ruleSet: { forbidden }, validate: true })
    const broken = typeof output === 'string' ? [] : output.summary.violations.map(({ rule }) => rule.name)
    expect(broken.sort()).toEqual(['postgres-without-sqlite', 'sqlite-without-postgres'])
  } finally {
    await rm(baseDir, { recursive: true })
  }
})
