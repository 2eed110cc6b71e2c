import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type CommandFixture, openCommandFixture } from '../../../test/command-fixture.ts'
import { quoinCommand } from '../../../test/recording-terminal.ts'

let folder: string
let fixture: CommandFixture
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'quoin-blocks-'))
  fixture = await openCommandFixture('over HTTP', { settings: { QUOIN_BLOCKS: folder } })
})
afterAll(async () => {
  await fixture?.close()
  await rm(folder, { recursive: true, force: true })
})

test('an extension is looked at, switched on by its hash, switched off and removed', async () => {
  const run = (...words: string[]) => fixture.run(['extension', ...words])
  expect(await run('list')).toMatchObject({ code: 0, complained: expect.stringContaining('There are none') })
  expect(await run('on', 'acme')).toMatchObject({ code: 1 })
  await quoinCommand(['extension', 'new', 'acme', '--folder', join(folder, 'acme')], {})
  const { printed } = await run('list')
  expect(printed).toMatch(
    /^acme\toff\n {2}0\.1\.0\tin the folder\t[0-9a-f]{12}\n {4}calls nothing; reads nothing; changes nothing\n {4}acme_greet\tGreet$/,
  )
  expect(await run('on', 'acme', '--hash', 'ffff')).toMatchObject({ code: 1 })
  expect(await run('off', 'acme')).toMatchObject({ code: 1 })
  const [hash = ''] = /[0-9a-f]{12}/.exec(printed) ?? []
  const on = await run('on', 'acme', '--hash', hash)
  expect([on.code, on.printed.split('\n')[0]]).toEqual([0, 'acme\ton: 0.1.0'])
  expect(await run('remove', 'acme')).toMatchObject({ code: 1, complained: expect.stringContaining('is on') })
  expect(await run('off', 'acme')).toMatchObject({ code: 0 })
  expect(await run('remove', 'acme')).toMatchObject({ code: 0 })
  expect((await run('list')).printed).toBe(printed)
})

test('import --activate takes blocks of an extension that the cluster has switched on, and of no other', async () => {
  await quoinCommand(['extension', 'new', 'beta', '--folder', join(folder, 'beta')], {})
  const file = join(folder, 'greeted.json')
  const environment = { ...fixture.environment, QUOIN_BLOCKS: '' }
  const put = async (type: string, ...more: string[]) => {
    const blocks = {
      begin: { type: 'on_startup_register_uri_get', in: { uri: 'greeted' }, scopes: ['*public'] },
      greet: { type, in: { flow: '@begin.flow', name: 'Ada' } },
    }
    await writeFile(file, JSON.stringify({ name: 'Greeted', blocks }))
    return quoinCommand(['import', file, '--activate', ...more, ...fixture.flags], environment)
  }
  const off = await put('beta_greet')
  expect(off).toMatchObject({
    code: 1,
    complained: expect.stringContaining('greet: There is no block of the type'),
  })
  await fixture.run(['extension', 'on', 'beta'])
  expect((await put('beta_gret')).complained).toContain('greet: There is no block of the type')
  expect((await fixture.run(['export', 'Greeted'])).complained).toBe('There is no blueprint "Greeted".')
  expect(await put('beta_greet')).toMatchObject({ code: 0, complained: '' })
  expect((await fetch(`${fixture.flags.at(-1)}/api/v1/greeted`)).ok).toBe(true)
  expect((await fixture.run(['extension', 'list'])).printed).toContain('    used by Greeted')
})
