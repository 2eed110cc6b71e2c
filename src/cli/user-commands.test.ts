/** Without and with a running server: the way back for a user who has lost the app and the recovery codes, and who may do something. */
import { TOTP } from 'otpauth'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type CommandFixture, openCommandFixture, places, signInAt } from '../../test/command-fixture.ts'
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
})
