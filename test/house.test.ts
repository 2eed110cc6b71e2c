import { globSync } from 'node:fs'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { cruise } from 'dependency-cruiser'
import extractTSConfig from 'dependency-cruiser/config-utl/extract-ts-config'
import { expect, test } from 'vitest'
import { ownStorages } from '../src/storage/own-storages.ts'
import { controlRules, wallRules, wallsOf } from './walls.ts'

const root = join(import.meta.dirname, '..')
const sources = globSync('{src,test,bench,scripts,examples}/**/*.{ts,tsx,mjs,sh}', { cwd: root })
const inSource = sources.filter((file) => file.startsWith('src/') && /\.tsx?$/.test(file))

const { forbidden, options } = JSON.parse(await readFile(join(root, '.dependency-cruiser.json'), 'utf8'))

test('every folder keeps to its wall, and nothing imports in a circle', async () => {
  const tsConfig = extractTSConfig(join(root, 'tsconfig.json'))
  const ruleSet = { forbidden: [...forbidden, ...wallRules(), ...controlRules()] }
  const { output } = await cruise(
    ['src'],
    { ...options, baseDir: root, ruleSet, validate: true },
    {},
    { tsConfig },
  )
  if (typeof output === 'string') throw new TypeError('The checker gave text.')
  const { violations, totalDependenciesCruised = 0 } = output.summary
  const broken = violations.filter(({ rule }) => rule.severity === 'error')
  expect(broken.map(({ rule, from, to }) => `${rule.name}: ${from} → ${to}`)).toEqual([])
  // With the wrong TypeScript installed the checker sees nothing and is content: it must have seen every file, and
  // imports out of every folder.
  const seen = new Set(output.modules.map((module) => module.source))
  expect(inSource.filter((file) => !seen.has(file))).toEqual([])
  expect(totalDependenciesCruised).toBeGreaterThan(inSource.length)
  const controls = new Set(violations.map(({ rule }) => rule.name))
  expect(controlRules().filter(({ name }) => !controls.has(name))).toEqual([])
})

test('every folder of src has one wall', () => {
  const folders = new Set(inSource.map((file) => dirname(file).slice('src/'.length)).filter(Boolean))
  expect([...folders].filter((folder) => wallsOf(folder).length !== 1)).toEqual([])
})

test('imports past a wall are found', async () => {
  const baseDir = await mkdtemp(join(tmpdir(), 'quoin-house-'))
  try {
    const upwards: Record<string, string> = {
      'storage/sqlite/core/a.ts': '../../postgres/core/b.ts',
      'storage/postgres/core/b.ts': '../../sqlite/core/c.ts',
      'storage/sqlite/core/c.ts': '../../copy/d.ts',
      'storage/copy/d.ts': '../../flows/compile/e.ts',
      'flows/compile/e.ts': '../run/f.ts',
      'flows/run/f.ts': '../../http/server/g.tsx',
      'http/server/g.tsx': '../pages/h.ts',
      'http/pages/h.ts': '../../quoin/i.ts',
      'shared/i.ts': '../cli/i.ts',
    }
    for (const [file, imported] of [...Object.entries(upwards), ['quoin/i.ts', ''], ['cli/i.ts', '']]) {
      const path = join(baseDir, 'src', file ?? '')
      await mkdir(dirname(path), { recursive: true })
      await writeFile(path, imported ? `import '${imported}'` : 'export {}')
    }
    const { tsConfig: _, ...plain } = options
    const ruleSet = { forbidden: [...wallRules()] }
    const { output } = await cruise(['src'], { ...plain, baseDir, ruleSet, validate: true })
    const found = typeof output === 'string' ? [] : output.summary.violations.map(({ from }) => from)
    expect(found.toSorted()).toEqual(
      Object.keys(upwards)
        .map((file) => `src/${file}`)
        .toSorted(),
    )
  } finally {
    await rm(baseDir, { recursive: true })
  }
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

test('no folder of src holds more than 40 files beside tests', () => {
  const held = new Map<string, number>()
  for (const file of inSource.filter((one) => !/\.test\.tsx?$/.test(one)))
    held.set(dirname(file), (held.get(dirname(file)) ?? 0) + 1)
  expect([...held].filter(([, files]) => files > 40)).toEqual([])
})

test('files are named for what is in them', () => {
  const vague = /^(utils?|helpers?|types?|managers?|index|misc|common)\./i
  expect(sources.filter((file) => vague.test(basename(file)))).toEqual([])
  const odd = inSource.filter(
    (file) => !/^src\/blocks\/[a-z]+\//.test(file) && !/^[a-z0-9-]+(\.[a-z]+)*\.tsx?$/.test(basename(file)),
  )
  expect(odd).toEqual([])
})

test('nothing but the table of options reads the environment', async () => {
  const reading: string[] = []
  for (const file of inSource) {
    if (file === 'src/options/options.ts') continue
    if ((await readFile(join(root, file), 'utf8')).includes('process.env')) reading.push(file)
  }
  expect(reading).toEqual([])
})

test('every file that ARCHITECTURE.md names exists', async () => {
  const all = globSync('{src,test,bench,scripts,bin}/**/*', { cwd: root, exclude: ['**/node_modules'] })
  const named = (await readFile(join(root, 'ARCHITECTURE.md'), 'utf8')).matchAll(
    /`([\w/.-]+\.(?:tsx?|mjs|sql))`/g,
  )
  const names = [...named].map(([, name = '']) => name)
  expect(names.length).toBeGreaterThan(80)
  expect(names.filter((name) => !all.some((file) => `/${file}`.endsWith(`/${name}`)))).toEqual([])
})

test('names of own storages are written in one file', async () => {
  const names = Object.values(ownStorages).map((name) => `'${name}'`)
  // Queues of jobs have names of their own.
  const written = ['src/storage/own-storages.ts', 'src/storage/job.ts']
  const others = inSource.filter((file) => !file.endsWith('.test.ts') && !written.includes(file))
  const writing: string[] = []
  for (const file of others) {
    const text = await readFile(join(root, file), 'utf8')
    for (const name of names) if (text.includes(name)) writing.push(`${file}: ${name}`)
  }
  expect(writing).toEqual([])
})
