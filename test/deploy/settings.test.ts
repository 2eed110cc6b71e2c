/** What deploy/ sets exists, and has values that a node starts with. */
import { globSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { OptionError } from '../../src/options/option-kinds.ts'
import { optionTable, readOptions } from '../../src/options/options.ts'

const root = join(import.meta.dirname, '..', '..')
const known = new Set<string>(Object.values(optionTable).map(({ variable }) => variable))
const VARIABLE = /\b(?:QUOIN_[A-Z][A-Z_]*|DATABASE_URL)\b/g
/** `QUOIN_POOL: '10'` of YAML, `QUOIN_PORT=8080` of the others. */
const SETTING = /^[^#\n]*?\b(QUOIN_[A-Z_]+|DATABASE_URL)(?:: +|=)(.*?)(?: \\)?$/gm

async function read(file: string): Promise<string> {
  return readFile(join(root, 'deploy', file), 'utf8')
}

function settingsOf(text: string): [string, string][] {
  return [...text.matchAll(SETTING)].map(([, variable = '', written = '']) => {
    // What compose puts in for its own variables: any text.
    const value = written.replace(/\$\{[^}]*\}/g, 'some-text-here').replace(/^(['"])(.*)\1$/, '$2')
    return [variable, value]
  })
}

test.each(globSync('*', { cwd: join(root, 'deploy') }))(
  'deploy/%s names only settings that exist',
  async (file) => {
    const named = (await read(file)).match(VARIABLE) ?? []
    expect(named.filter((variable) => !known.has(variable))).toEqual([])
  },
)

test.each(['compose.yaml', 'compose-cores.yaml', 'kubernetes.yaml', 'Dockerfile', 'quoin.service'])(
  'deploy/%s gives them values that are accepted',
  async (file) => {
    const settings = settingsOf(await read(file))
    expect(settings.length).toBeGreaterThan(1)
    for (const [variable, value] of settings) readOptions({ [variable]: value })
  },
)

test.each(['compose.yaml', 'kubernetes.yaml'])('deploy/%s makes a cluster of named nodes', async (file) => {
  expect(await read(file)).toContain('QUOIN_NODE')
  expect(settingsOf(await read(file)).map(([variable]) => variable)).toContain('DATABASE_URL')
})

test('deploy/compose-cores.yaml has a node for each core, and PostgreSQL connections for as many as the balancer knows', async () => {
  const text = await read('compose-cores.yaml')
  expect(text).toMatch(/\breplicas: \$\{NODES:\?/)
  const settings = new Map(settingsOf(text))
  expect(settings.has('DATABASE_URL')).toBe(true)
  // Each name is that of its container.
  expect(settings.has('QUOIN_NODE')).toBe(false)
  const [, most] = /server-template node (\d+) /.exec(text) ?? []
  const [, connections] = /max_connections=(\d+)/.exec(text) ?? []
  // One for messages and one for the lease, and some of all that PostgreSQL keeps for superusers.
  const needed = Number(most) * (Number(settings.get('QUOIN_POOL')) + 2) + 5
  expect(needed).toBeLessThanOrEqual(Number(connections))
})

test('control: a value that is not accepted would be found', () => {
  const [[variable = '', value] = []] = settingsOf("  QUOIN_POOL: 'many'\n")
  expect(() => readOptions({ [variable]: value })).toThrow(OptionError)
})
