/** What docs/applications.md tells to type does what it says, as it stands there: the first application, and the files of build pipelines. */
import { execFile } from 'node:child_process'
import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { parse } from 'yaml'
import type { JsonValue } from '../../src/shared/json.ts'
import { folderScopes } from '../../src/shared/management-scopes.ts'
import { adminPassword, objectOf, objectsOf, openTestQuoin, type TestQuoin } from './harness.ts'

const page = await readFile(new URL('../../docs/applications.md', import.meta.url), 'utf8')
const program = fileURLToPath(new URL('../../bin/quoin.mjs', import.meta.url))

/** The code below a heading, in the order in which it stands there. */
function code(heading: string, language: string): readonly string[] {
  const [own = ''] = (page.split(`\n## ${heading}\n`)[1] ?? '').split('\n## ')
  return [...own.matchAll(/^```(\w+)\n(.*?)^```$/gms)].flatMap(([, word, text = '']) =>
    word === language ? [text] : [],
  )
}

let quoin: TestQuoin
let address: string
let home: string
let key: string
beforeAll(async () => {
  quoin = await openTestQuoin()
  address = await quoin.quoin.server.listen()
  home = await mkdtemp(join(tmpdir(), 'quoin-test-'))
  await write('bin/quoin', `#!/bin/sh\nexec '${process.execPath}' '${program}' "$@"\n`)
  // As npx does with a package that is installed beside it.
  await write('bin/npx', '#!/bin/sh\nexec "$@"\n')
  for (const name of ['quoin', 'npx']) await chmod(join(home, 'bin', name), 0o755)
  const scopes = [...folderScopes, 'applications_view', 'applications_update', 'storages_create']
  const blueprints = ['blueprints_create', 'blueprints_update', 'blueprintactions_create']
  const removing = ['blueprintfields_create', 'blueprintfields_remove', 'storages_remove']
  const made = await quoin.manage('POST', '/users/me/keys', {
    name: 'pipeline',
    scopes: [...scopes, ...blueprints, 'blueprintactions_update', ...removing],
  })
  key = String(objectOf(made).key)
})
afterAll(async () => {
  await quoin?.close()
  if (home) await rm(home, { recursive: true, force: true })
})

async function write(path: string, content: JsonValue): Promise<void> {
  await mkdir(join(home, dirname(path)), { recursive: true })
  await writeFile(join(home, path), typeof content === 'string' ? content : JSON.stringify(content))
}

/** In a shell that ends with the first line that fails, as those of pipelines do. */
function shell(lines: string, environment: Readonly<Record<string, string>> = {}) {
  const env = { PATH: `${join(home, 'bin')}:/usr/bin:/bin`, HOME: home, ...environment }
  return new Promise<{ readonly code: number | string; readonly output: string }>((resolve) => {
    execFile('sh', ['-ec', lines], { cwd: home, env, timeout: 60_000 }, (error, output, complaints) =>
      resolve({ code: error?.code ?? (error ? 'killed' : 0), output: output + complaints }),
    )
  })
}

const deals = () => quoin.send('GET', '/deals')

test('the first application is made by typing what the page says', async () => {
  const [lines = ''] = code('From an empty folder', 'sh')
  const typed = lines
    .replaceAll('http://127.0.0.1:8080', address)
    .replace('quoin login', `echo '${adminPassword}' | quoin login`)
    .replace('quoin push', 'echo yes | quoin push')
  const { code: end, output } = await shell(typed)
  expect(output).toMatch(/crm can run\..*Release 1 of crm is live\..*\[\].*crm\/blueprints\/deals\.json/s)
  expect([end, (await deals()).body]).toEqual([0, []])
})

type Job = { readonly script?: readonly string[]; readonly steps?: readonly { readonly run?: string }[] }

/** The commands of both files, in the order in which they run; without the installation. */
function pipelines(): readonly (readonly string[])[] {
  const [github = '', gitlab = ''] = code('In a build pipeline', 'yaml')
  const steps: readonly Job[] = Object.values(parse(github).jobs)
  const { before_script: before, ...jobs }: Record<string, Job> & { before_script: string[] } = parse(gitlab)
  return [
    steps.flatMap((job) => job.steps?.flatMap(({ run }) => run ?? []) ?? []),
    [...before, ...Object.values(jobs).flatMap(({ script = [] }) => script)],
  ].map((lines) => {
    expect(lines[0]).toBe('npm install --no-save "$PACKAGE"')
    return lines.slice(1)
  })
}

const run = (lines: readonly string[]) => shell(lines.join('\n'), { CLUSTER: address, QUOIN_TOKEN: key })
const change = async (value: string, tested: string) => {
  const file = objectOf(JSON.parse(await readFile(join(home, 'crm/blueprints/deals.json'), 'utf8')))
  const reply = { type: 'httpconnection_set_json', in: { flow: '@search.flow', value: `="${value}"` } }
  await write('crm/blueprints/deals.json', { ...file, blocks: { ...objectOf(file.blocks), reply } })
  await write('crm/tests/list.test.json', {
    ...{ name: 'Lists', steps: [{ request: 'GET /deals', expect: { body: tested } }] },
  })
}

test('the two files of pipelines run the same commands, which stop at a test that fails and at a loss', async () => {
  const [github = [], gitlab = []] = pipelines()
  expect(gitlab).toEqual(github)
  expect(github.map((line) => line.split(' ')[2])).toEqual(['check', 'test', 'plan', 'push'])
  const before = (await deals()).body
  await change('new', 'other')
  const failed = await run(github)
  expect([failed.code, (await deals()).body]).toEqual([1, before])
  expect(await readFile(join(home, 'tests.xml'), 'utf8')).toContain('failures="1"')

  await change('new', 'new')
  const done = await run(github)
  expect([done, (await deals()).body]).toEqual([
    {
      code: 0,
      output: expect.stringMatching(/changed blueprints\/deals\.json.*Release \d of crm is live\./s),
    },
    'new',
  ])

  const [storage] = objectsOf(
    await quoin.manage('POST', '/_system/storages/search', { filters: { name: 'deals' } }),
  )
  const { guid } = objectOf(storage?._meta)
  await quoin.manage('POST', `/_system/storages/${String(guid)}/documents`, { title: 'A' })
  await rm(join(home, 'crm/storages'), { recursive: true })
  await write('crm/blueprints/deals.json', { name: 'Deals', blocks: {} })
  await rm(join(home, 'crm/tests/list.test.json'))
  const lost = await run(github.filter((line) => !line.includes(' test ')))
  expect([lost.code, lost.output, (await deals()).body]).toEqual([2, expect.stringContaining('loses'), 'new'])
})
