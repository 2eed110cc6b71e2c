/** A user lets an agent in on the page of consent, comes back to the program, and shows the agent out in the account. */
import { createHash } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { userPassword } from '../end-to-end/harness.ts'
import { type LocalServer, startLocalServer } from '../local-server.ts'
import { freePort } from '../postgres/postgres-server.ts'
import { axeProblems } from './axe-check.ts'
import { openStudio, type StudioFixture } from './studio-fixture.ts'

let studio: StudioFixture
let program: LocalServer
let site = ''
const came: string[] = []
beforeAll(async () => {
  program = await startLocalServer((request, response) => {
    const { pathname, search } = new URL(request.url ?? '/', program.url)
    if (pathname === '/back') came.push(search)
    const [id, redirect] = [`${program.url}/client.json`, `${program.url}/back`]
    response.writeHead(200, { 'content-type': pathname === '/back' ? 'text/plain' : 'application/json' })
    const about = { client_id: id, client_name: 'Planner', redirect_uris: [redirect] }
    response.end(pathname === '/back' ? 'You can go on.' : JSON.stringify(about))
  })
  const port = await freePort()
  site = `http://127.0.0.1:${port}`
  studio = await openStudio({
    ...{ QUOIN_PORT: String(port), QUOIN_HOST: '127.0.0.1', QUOIN_PUBLIC_URL: site },
    QUOIN_ALLOWED_HOSTS: `127.0.0.1:${program.port}`,
  })
}, 120_000)
afterAll(async () => {
  await studio?.close()
  await program?.close()
})

test('an agent is let in by a browser, and shown out in the account', async () => {
  const name = `eve-${Date.now()}`
  const guid = await studio.quoin.addUser(name, ['drafts_view'])
  const page = await studio.open(undefined, 'account')
  const verifier = 'v'.repeat(43)
  const query = new URLSearchParams({
    ...{ response_type: 'code', client_id: `${program.url}/client.json`, state: 'one' },
    ...{ redirect_uri: `${program.url}/back`, code_challenge_method: 'S256' },
    code_challenge: createHash('sha256').update(verifier).digest('base64url'),
  })
  await page.goto(`${site}/_oauth/authorize?${query}`)
  await page.getByLabel('User name').fill(name)
  await page.getByLabel('Password').fill(userPassword)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByRole('heading', { name: 'Let Planner in?' }).waitFor()
  expect(await axeProblems(page)).toEqual([])
  await page.getByRole('button', { name: 'Allow' }).click()
  await page.getByText('You can go on.').waitFor()
  const code = new URLSearchParams(came.at(-1)).get('code') ?? ''
  const fields = { grant_type: 'authorization_code', code, redirect_uri: `${program.url}/back` }
  const body = new URLSearchParams({
    ...fields,
    client_id: `${program.url}/client.json`,
    code_verifier: verifier,
  })
  expect((await fetch(`${site}/_oauth/token`, { method: 'POST', body })).status).toBe(200)

  const account = await studio.open(name, 'account')
  await account.getByRole('button', { name: 'End the agent Planner' }).waitFor()
  await account.getByRole('button', { name: 'End the agent Planner' }).click()
  await account.getByRole('dialog').getByRole('button', { name: 'End' }).click()
  await account.getByText('No agents.').waitFor()
  expect(await studio.quoin.quoin.access.agents.list(guid)).toEqual([])
})
