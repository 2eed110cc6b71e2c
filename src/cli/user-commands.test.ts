/** Without and with a running server: the way back for a user who has lost the app and the recovery codes, and who may do something. */
import { writeFile } from 'node:fs/promises'
import { TOTP } from 'otpauth'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type CommandFixture, openCommandFixture, places, signInAt } from '../../test/command-fixture.ts'
import { quoinCommand } from '../../test/recording-terminal.ts'
import { search } from '../shared/query.ts'
import { documentsOf } from '../storage/find-documents.ts'

describe.each(places)('%s', (where) => {
  let fixture: CommandFixture
  beforeAll(async () => {
    fixture = await openCommandFixture(where, { settings: { QUOIN_SECRETS_KEY: '0f'.repeat(32) } })
  })
  afterAll(() => fixture.close())

  test('a second factor of a user who has lost everything is removed, and the audit log has it', async () => {
    await fixture.run(['user', 'create', 'dea', '--password-stdin'], 'the first password')
    const reset = ['user', 'reset-second-factor', 'dea']
    expect(await fixture.run(reset)).toMatchObject({ code: 1, complained: 'This user has no second factor.' })
    await fixture.inside(async (quoin) => {
      const { access_token } = await signInAt(quoin, 'dea', 'the first password')
      const dea = await quoin.access.identify(access_token)
      if (!dea) throw new Error('dea is not signed in.')
      const { challenge, setup } = await quoin.access.factors.begin(dea)
      const code = TOTP.generate({ secret: new TOTP({ secret: setup.secret }).secret })
      await quoin.access.factors.add(dea, { challenge, code })
      await expect(signInAt(quoin, 'dea', 'the first password')).rejects.toMatchObject({
        code: 'SECOND_FACTOR_REQUIRED',
      })
    })
    expect(await fixture.run(reset)).toMatchObject({ code: 0, complained: '' })
    await fixture.inside(async (quoin) => {
      expect(await signInAt(quoin, 'dea', 'the first password')).toMatchObject({ user: { username: 'dea' } })
      const audits = await quoin.database.session().find('_auditlogs', search({ limit: 1_000 }))
      expect(JSON.stringify(documentsOf(audits))).toContain('second_factor')
    })
  })

  test('who may do something is printed by user, with what each has it from', async () => {
    const whoMay = (what: string, ...words: string[]) => fixture.run(['user', 'who-may', what, ...words])
    expect(await whoMay('orders')).toMatchObject({ code: 2, printed: '' })
    expect(await whoMay('storage nothing')).toMatchObject({
      code: 1,
      complained: 'There is no storage nothing.',
    })
    await fixture.run(['user', 'create', 'packer', '--service', '--scopes', 'orders'])
    await fixture.run(['storage', 'add', 'orders'])
    expect(await whoMay('scope orders')).toEqual({
      code: 0,
      printed: 'admin\t* from the user itself.\npacker\torders from the user itself.',
      complained: 'It is open to those who hold one of orders.',
    })
    expect((await whoMay('storage orders', '--contains', 'pack')).printed).toBe(
      'packer\tsee all\tcreate all\tchange all\tremove all',
    )
  })

  const imported = async (name: string, content: string, ...words: readonly string[]) => {
    await writeFile(fixture.file(name), content)
    return fixture.run(['user', 'import', fixture.file(name), ...words])
  }
  const usersNow = (): Promise<unknown[][]> =>
    fixture.inside(async ({ database }) => {
      const found = await database.session().find('_users', search({ limit: 1_000 }))
      return documentsOf(found).map((user) => [user.username, user.email, user.firstname, user.custom_scopes])
    })
  const hash = '$2a$05$CCCCCCCCCCCCCCCCCCCCC.E5YPO9kmyuRGyh0XouQYb4YMJKvyOeW'

  test.each<[string, string, string, string[]]>([
    ['another kind of file', 'a.xml', '<users/>', ['must end with .csv, .tsv, .ndjson, .jsonl or .json.']],
    [
      'readable passwords',
      'a.csv',
      'username,password\nab,secret words\n',
      ['Line 1: password is no column'],
    ],
    ['an unknown column', 'a.csv', 'username,phone\nab,1\n', ['Line 1: "phone" is no column.']],
    ['a column twice', 'a.csv', 'username,email,email\nab,1,2\n', ['Line 1 names a column twice.']],
    ['no names of columns', 'a.csv', `ab,${hash}\n`, ['Line 1: "ab" is no column.']],
    ['a cut list', 'a.json', '[{"username":"ab"},{"username":', ['ends in the middle']],
    [
      'all lines with something wrong',
      'a.csv',
      `username,email,groups,scopes,password_hash
,x@x.example,,,
ab,no address,,,
ac,,,,
ad,,,,md5-of-it
ae,ae@x.example,nothing;admin,,
af,ae@x.example,,*x,
AF,af@x.example,,,
af,,,,${hash}
${hash},ag@x.example,,,
ah,ah@x.example,${hash},,
ai,ai@x.example,,,,more
`,
      [
        'line 2: username is required.',
        'line 3: email must look like name@example.com.',
        'line 4: password_hash or email is required: without both the user could never sign in.',
        'line 5: password_hash must be a hash of bcrypt',
        'line 6: There is no group "nothing". There is no group "admin".',
        'line 7: custom_scopes holds "*x", which starts with *',
        'line 9: The same username or email is in line 8.',
        'line 10: username is the hash of a password: the columns are in another order than their names.',
        'line 11: There is no group …',
        'line 12: There are more cells than columns.',
        'No user was made.',
      ],
    ],
    [
      'wrong lines of JSON',
      'a.ndjson',
      `{"username":"ab"\n"${hash}"\n{"username":7,"email":"ab@x.example","firstname":["a"]}\n`,
      [
        'line 1: It is not JSON.',
        'line 2: It is no JSON object.',
        'line 3: username must be a text. firstname must',
      ],
    ],
  ])('%s is refused, and no hash is printed', async (_what, name, content, lines) => {
    const end = await imported(name, content)
    expect([end.code, end.printed]).toEqual([1, ''])
    for (const line of lines) expect(end.complained).toContain(line)
    expect(end.complained).not.toContain('$')
  })

  if (where === 'over HTTP')
    test('who may not make users, or not with these scopes, makes none', async () => {
      await fixture.run(
        ['user', 'create', 'hrm', '--scopes', 'users_view,users_create,orders', '--password-stdin'],
        'the second password',
      )
      const importAs = async (username: string, password: string, content: string) => {
        await writeFile(fixture.file('a.csv'), content)
        const { access_token } = await fixture.inside((quoin) => signInAt(quoin, username, password))
        const words = ['user', 'import', fixture.file('a.csv'), ...fixture.flags]
        return quoinCommand(words, { ...fixture.environment, QUOIN_TOKEN: access_token })
      }
      const csv = (scopes: string) =>
        `username,scopes,password_hash\nida,orders,${hash}\nivo,${scopes},${hash}\n`
      const before = await usersNow()
      const refused = await importAs('dea', 'the first password', csv('orders'))
      expect([refused.code, refused.printed]).toEqual([1, ''])
      expect(await usersNow()).toEqual(before)
      const stopped = await importAs('hrm', 'the second password', csv('*'))
      expect([stopped.code, stopped.printed]).toEqual([1, ''])
      expect(stopped.complained).toContain('1 user made; stopped at line 3. ')
      expect(await usersNow()).toHaveLength(before.length + 1)
      const second = await importAs('hrm', 'the second password', csv('orders'))
      expect([second.code, second.printed]).toEqual([
        0,
        '1 user made. 1 is there already and stays unchanged.',
      ])
    })

  test('users of a file sign in with the passwords that they had; those who are there stay as they are', async () => {
    const csv = `username;email;firstname;groups;scopes;password_hash
uma;uma@x.example;Uma;operator;orders,reports;${hash}
ulf;ulf@x.example;;;;
admin;other@x.example;Other;;*;${hash}
uwe;UMA@x.example;;;;
`
    const before = await usersNow()
    for (const username of ['ab', 'ac', 'ad', 'ae', 'af', 'ah'])
      expect(before.map(([name]) => name)).not.toContain(username)
    const dry = await imported('a.csv', csv, '--dry-run')
    expect([dry.code, dry.printed]).toEqual([1, ''])
    expect(dry.complained).toBe('line 5: The same username or email is in line 2.')
    const skipped = await imported('a.csv', csv, '--dry-run', '--skip-invalid')
    expect([skipped.code, skipped.printed]).toEqual([
      0,
      '2 users would be made. 1 is there already and stays unchanged. Nothing was changed.',
    ])
    expect(await usersNow()).toEqual(before)
    const made = await imported('a.csv', csv, '--skip-invalid')
    expect([made.code, made.printed]).toEqual([
      0,
      '2 users made. 1 is there already and stays unchanged. 1 left out.',
    ])
    const list = [
      { username: 'uma', email: 'taken@x.example', scopes: ['*'], password_hash: hash },
      { username: 'uli', email: 'ulf@x.example' },
      { username: 'ute', groups: ['operator'], scopes: ['orders'], password_hash: hash },
    ]
    const refused = await imported('b.json', JSON.stringify(list))
    expect([refused.code, refused.complained]).toEqual([
      1,
      'item 2: email is the address of another user.\nNo user was made. Mend the file, or leave these out with --skip-invalid.',
    ])
    const lines = list.filter(({ username }) => username !== 'uli').map((one) => JSON.stringify(one))
    for (const count of ['1 user made. 1 is', '0 users made. 2 are'])
      expect((await imported('b.ndjson', lines.join('\n'))).printed).toContain(count)
    const users = await usersNow()
    expect(users).toHaveLength(before.length + 3)
    expect(users).toEqual(
      expect.arrayContaining([
        ...before,
        ['uma', 'uma@x.example', 'Uma', ['orders', 'reports']],
        ['ulf', 'ulf@x.example', '', []],
        ['ute', null, '', ['orders']],
      ]),
    )
    await fixture.inside(async (quoin) => {
      for (const username of ['uma', 'ute']) {
        await expect(signInAt(quoin, username, 'another password')).rejects.toMatchObject({
          code: 'INVALID_CREDENTIALS',
        })
        const { access_token } = await signInAt(quoin, username, 'U*U')
        expect((await quoin.access.identify(access_token))?.scopes.has('settings_update')).toBe(true)
      }
    })
  })
})
