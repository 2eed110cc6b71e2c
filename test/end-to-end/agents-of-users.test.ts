/** Agents of other users: administrators list and end them where they may end the sessions of the user. */
import { createHash } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { JsonValue } from '../../src/shared/json.ts'
import { objectsOf, openTestQuoin, type TestQuoin } from './harness.ts'

let quoin: TestQuoin
let owner = ''
let other = ''

beforeAll(async () => {
  quoin = await openTestQuoin({ QUOIN_PUBLIC_URL: 'https://quoin.example.org' })
  owner = await quoin.addUser('owner', ['editors', 'drafts_view'])
  other = await quoin.addUser('other', [])
  await quoin.addUser('views', ['users_view'])
  await quoin.addUser('updates', ['users_view', 'users_update'])
})
afterAll(() => quoin?.close())

/** Gives the access token. */
async function letIn(): Promise<string> {
  const { access } = quoin.quoin
  const by = await access.identify(await quoin.tokenOf('owner'))
  if (!by) throw new Error('The user is not signed in.')
  const client = {
    clientId: 'https://agent.example.org/a.json',
    redirectUri: 'https://agent.example.org/back',
  }
  const verifier = 'v'.repeat(43)
  const challenge = createHash('sha256').update(verifier).digest('base64url')
  const terms = { clientName: 'Agent', challenge, scopes: ['drafts_view'], seconds: 3_600, once: 'once' }
  const code = await access.agents.consent(by, { ...client, ...terms })
  return (await access.agents.redeem({ ...client, code, verifier })).accessToken
}

test('refused without the scope, without the scopes of the user, and for an agent of another user', async () => {
  const token = await letIn()
  const path = `/users/${owner}/agents`
  const answers: JsonValue[] = []
  const send = async (method: 'GET' | 'DELETE', to: string, as?: string) => {
    const { status } = await quoin.send(method, to, as === undefined ? {} : { as })
    answers.push([method, as ?? 'nobody', status])
  }
  const listed = objectsOf((await quoin.send('GET', path, { as: 'views' })).body)
  expect(listed).toMatchObject([{ client: 'Agent', scopes: ['drafts_view'] }])
  const guid = String(listed[0]?.guid)
  await send('GET', path)
  await send('DELETE', `${path}/${guid}`)
  await send('GET', path, 'other')
  await send('DELETE', `${path}/${guid}`, 'views')
  await send('DELETE', `${path}/${guid}`, 'updates')
  await send('DELETE', `/users/${other}/agents/${guid}`, 'admin')
  await send('GET', '/users/0190a6e0-0000-7000-8000-000000000000/agents', 'admin')
  expect(await quoin.quoin.access.identify(token)).toMatchObject({ username: 'owner' })
  await send('DELETE', `${path}/${guid}`, 'admin')
  expect(await quoin.quoin.access.identify(token)).toBeUndefined()
  await send('DELETE', `${path}/${guid}`, 'admin')
  expect(answers).toEqual([
    ['GET', 'nobody', 401],
    ['DELETE', 'nobody', 401],
    ['GET', 'other', 403],
    ['DELETE', 'views', 403],
    ['DELETE', 'updates', 403],
    ['DELETE', 'admin', 404],
    ['GET', 'admin', 404],
    ['DELETE', 'admin', 200],
    ['DELETE', 'admin', 404],
  ])
  const log = JSON.stringify(await quoin.manage('POST', '/_system/auditlogs', { limit: 50 }))
  expect(log).toContain('agent_grants')
})
