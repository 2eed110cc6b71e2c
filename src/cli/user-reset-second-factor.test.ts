/** The way back for a user who has lost the app and the recovery codes, without and with a running server. */
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
})
