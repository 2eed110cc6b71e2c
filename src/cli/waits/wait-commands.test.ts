/** quoin wait …: on the data directory while no server runs, and over HTTP while one does. */
import { writeFile } from 'node:fs/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type CommandFixture, openCommandFixture, places } from '../../../test/command-fixture.ts'
import { guidOf } from '../../../test/end-to-end/harness.ts'
import type { CommandEnd } from '../../../test/recording-terminal.ts'
import { matchAll } from '../../shared/query.ts'

describe.each(places)('%s', (where) => {
  let fixture: CommandFixture
  beforeAll(async () => {
    fixture = await openCommandFixture(where)
  })
  afterAll(() => fixture.close())

  const file = (name: string) => fixture.file(name)
  const run = (words: readonly string[]): Promise<CommandEnd> => fixture.run(words)
  const inside: CommandFixture['inside'] = (look) => fixture.inside(look)

  test('runs that wait are listed, shown, continued and cancelled', async () => {
    const done = { code: 0, printed: '', complained: '' }
    const blocks = {
      on: { type: 'on_startup_register_uri_post', in: { uri: 'asked' }, scopes: ['*public'] },
      ask: {
        type: 'wait_for_approval',
        in: { flow: '@on.flow', title: '="Order\\n" + body.id', scopes: ['a'] },
      },
      on_hook: { type: 'on_startup_register_uri_post', in: { uri: 'hooked' }, scopes: ['*public'] },
      hook: { type: 'wait_for_webhook', in: { flow: '@on_hook.flow', for: '1d' } },
      yes: {
        type: 'function_create_document_from_mutations',
        in: { flow: '@ask.approved', storage: 'asked', set: '={ id: body.id, comment: ask.comment }' },
      },
    }
    await writeFile(file('waits.json'), JSON.stringify({ name: 'Waits', blocks }))
    expect((await run(['import', file('waits.json'), '--activate'])).code).toBe(0)
    expect(await run(['wait', 'list'])).toEqual({ ...done, complained: 'No run waits.' })
    await inside(async ({ server }) => {
      for (const url of ['/api/v1/asked', '/api/v1/asked', '/api/v1/hooked'])
        await server.app.inject({ method: 'POST', url, payload: { id: 'one' } })
    })
    const listed = (await run(['wait', 'list'])).printed.split('\n').map((line) => line.split('\t'))
    const minute = expect.stringMatching(/^(since|until) \d{4}-\d\d-\d\dT\d\d:\d\dZ$/)
    const guid = expect.stringMatching(/^[0-9a-f-]{36}$/)
    const asked = [guid, 'approval', 'waiting', minute, 'until it is ended', 'Order one']
    expect(listed).toEqual([asked, asked, [guid, 'request', 'waiting', minute, minute, 'Webhook']])
    const [first = '', second = '', third = ''] = listed.map(([guid = '']) => guid)
    const guids = async (...words: string[]) =>
      (await run(['wait', 'list', ...words])).printed.split('\n').map((line) => line.split('\t')[0])
    expect(await guids('--kind', 'request')).toEqual([third])
    expect(await guids('--blueprint', 'Waits', '--kind', 'approval')).toEqual([first, second])
    const shown = JSON.parse((await run(['wait', 'show', first])).printed)
    expect(shown).toMatchObject({ kind: 'approval', scopes: ['a'], details: { title: 'Order\none' } })
    const unknown = guidOf(shown).replace(/.{4}$/, '0000')
    const ended = expect.stringContaining(`There is no wait with the guid ${unknown}`)
    for (const [words, code, complained] of [
      [['list', '--blueprint', 'Wait'], 1, 'There is no blueprint "Wait".'],
      [['list', '--kind'], 2, expect.stringContaining('--kind needs a value')],
      [['show'], 2, expect.stringContaining('Missing argument: <wait>')],
      [['show', unknown], 1, ended],
      [['show', '../users/me'], 1, expect.stringContaining('There is no wait')],
      [['cancel', unknown], 1, ended],
      [['continue', unknown, '--way', 'approved'], 1, ended],
      [['continue', first], 1, expect.stringContaining('way must be one of approved, rejected, timeout')],
      [
        ['continue', third, '--way', 'received', '--body', '{'],
        2,
        expect.stringContaining('--body is not JSON: {.'),
      ],
    ] as const)
      expect([words, await run(['wait', ...words])]).toEqual([words, { code, printed: '', complained }])
    expect(await guids()).toEqual([first, second, third])
    expect(await run(['wait', 'continue', first, '--way', 'approved', '--comment', 'By phone'])).toEqual(done)
    if (where === 'over HTTP') {
      const written = () => inside(async ({ database }) => database.session().count('asked', matchAll, true))
      await expect.poll(written, { timeout: 10_000 }).toBe(1)
    } else
      expect(JSON.parse((await run(['wait', 'show', first])).printed)).toMatchObject({ state: 'resumed' })
    const none = { ...done, printed: '0 moved, 0 continue again, 0 stay.' }
    expect(await run(['wait', 'move', 'Waits', '--again', '--dry-run'])).toEqual(none)
    expect(await run(['wait', 'move', 'Wait'])).toMatchObject({ code: 1 })
    expect(await run(['wait', 'continue', second, '--current'])).toMatchObject({ code: 1 })
    for (const one of [second, third]) expect(await run(['wait', 'cancel', one])).toEqual(done)
    for (const one of [second, third]) expect((await run(['wait', 'show', one])).code).toBe(1)
  })
})
