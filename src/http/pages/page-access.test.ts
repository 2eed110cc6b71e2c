import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { adminPassword, openTestQuoin, type TestQuoin } from '../../../test/end-to-end/harness.ts'
import { openVisitor, type Visitor } from '../../../test/page-visitor.ts'
import type { JsonObject } from '../../shared/json.ts'

let fixture: TestQuoin
let origin: string

const page = (url: string, scopes: readonly string[]): JsonObject => ({
  page: { type: 'state_page', in: { url, title: 'A page' }, scopes },
  h1: { type: 'state_h1', in: { text: `This is ${url}` } },
  show: { type: 'state_render_page', in: { flow: '@page.flow', state: '@h1.state' } },
})

beforeAll(async () => {
  fixture = await openTestQuoin()
  origin = await fixture.quoin.server.listen()
  await fixture.install('Open', page('open', []))
  await fixture.install('Members', page('members', ['*loggedin']))
  await fixture.install('Staff', page('staff/{id}', ['staff']))
  await fixture.addUser('ada', ['staff'])
  await fixture.addUser('ben', [])
})
afterAll(() => fixture?.close())

async function signedIn(username: string): Promise<Visitor> {
  const visitor = openVisitor(origin)
  visitor.setCookie('access_token', await fixture.tokenOf(username))
  return visitor
}

async function signIn(visitor: Visitor, path: string, password = adminPassword) {
  return visitor.submit(await visitor.get(path), 'signin', { username: 'admin', password })
}

describe('who may see a page', () => {
  test.each(['/members', '/staff/7?a=b%26c', '/password', '/logout'])(
    '%s: anonymous visitors are sent to sign-in',
    async (path) => {
      const seen = await openVisitor(origin).get(path)
      expect([seen.status, seen.headers.get('location')]).toEqual([
        303,
        `/login?next=${encodeURIComponent(path)}`,
      ])
    },
  )

  test('who lacks the scope is told so, and sees nothing of it', async () => {
    const seen = await (await signedIn('ben')).get('/staff/7')
    expect(seen.status).toBe(403)
    expect(seen.text).toContain('No access to this page')
    expect(seen.text).not.toContain('This is')
  })

  test.each([
    ['ben', '/members'],
    ['ada', '/staff/7'],
    ['admin', '/staff/7'],
    ['ben', '/open'],
  ])('%s sees %s', async (username, path) => {
    const seen = await (await signedIn(username)).get(path)
    expect([seen.status, seen.text.includes('This is')]).toEqual([200, true])
  })

  test('a token that is no longer good is none', async () => {
    const visitor = openVisitor(origin)
    visitor.setCookie('access_token', 'x'.repeat(43))
    expect((await visitor.get('/open')).status).toBe(200)
    expect((await visitor.get('/members')).status).toBe(303)
  })

  test('a page of an inactive blueprint is not there', async () => {
    const guid = await fixture.install('Short', page('short', []))
    expect((await openVisitor(origin).get('/short')).status).toBe(200)
    await fixture.manage('PUT', `/blueprints/update/set/inactive/${guid}`)
    expect((await openVisitor(origin).get('/short')).status).toBe(404)
  })
})

describe('pages at which passwords are typed', () => {
  const builds = ['view', 'create', 'update', 'remove'].flatMap((verb) => [
    `blueprints_${verb}`,
    `blueprintactions_${verb}`,
  ])
  const blocks: JsonObject = {
    page: { type: 'state_page', in: { url: 'login', title: 'A page' } },
    h1: { type: 'state_h1', in: { text: 'Ours' } },
    show: { type: 'state_render_page', in: { flow: '@page.flow', state: '@h1.state' } },
  }
  const shown = async () => (await openVisitor(origin).get('/login')).text

  test('a builder cannot take them, whatever the way, and who may keeps them', async () => {
    await fixture.addUser('builder', builds)
    await fixture.addUser('trusted', [...builds, 'blueprints_account_pages'])
    const guid = await fixture.install('Our sign-in', blocks)
    expect(await shown()).toContain('Ours')
    const act = async (path: string, as: string) =>
      (
        await fixture.send(
          path.startsWith('/deploy') || path.endsWith('rollback') ? 'POST' : 'PUT',
          `/blueprints${path}`,
          { as },
        )
      ).status
    const entryPoints = [`/update/set/active/${guid}`, `/deploy/${guid}`, `/${guid}/versions/1/rollback`]
    for (const services of entryPoints)
      expect([services, await act(services, 'builder')]).toEqual([services, 403])
    // What is active stays so, and a start of the program serves it again.
    expect(await shown()).toContain('Ours')
    for (const services of entryPoints)
      expect([services, await act(services, 'trusted')]).toEqual([services, 200])
    expect(await act(`/update/set/inactive/${guid}`, 'builder')).toBe(200)
    expect(await shown()).not.toContain('Ours')
    expect(await act(`/update/set/active/${guid}`, 'builder')).toBe(403)
    const refused = await fixture.send('PUT', `/blueprints/update/set/active/${guid}`, { as: 'builder' })
    expect(JSON.stringify(refused.body)).toContain('blueprints_account_pages')
    expect(await shown()).not.toContain('Ours')
    // Deployed without being active, it takes nothing.
    expect(await act(`/deploy/${guid}`, 'builder')).toBe(200)
    expect(await shown()).not.toContain('Ours')
  })

  test.each(['Login', 'LOGIN', 'Password/Set', 'login/NEW', 'lOgout'])(
    'a page /%s, which looks like one of them, needs the same scope',
    async (url) => {
      const name = `like ${Buffer.from(url).toString('hex')}`
      const guid = await fixture.install(name, page(url, []))
      await fixture.manage('PUT', `/blueprints/update/set/inactive/${guid}`)
      await fixture.addUser(name, builds)
      const refused = await fixture.send('PUT', `/blueprints/update/set/active/${guid}`, { as: name })
      expect([refused.status, refused.text]).toEqual([
        403,
        expect.stringContaining('blueprints_account_pages'),
      ])
      expect((await openVisitor(origin).get(`/${url}`)).status).toBe(404)
      await fixture.manage('PUT', `/blueprints/update/set/active/${guid}`)
      expect((await openVisitor(origin).get(`/${url}`)).text).toContain('This is')
      await fixture.manage('PUT', `/blueprints/update/set/inactive/${guid}`)
    },
  )

  test('a page for any name does not take them', async () => {
    const guid = await fixture.install('Any', page('{name}', []))
    expect((await openVisitor(origin).get('/logins')).text).toContain('This is {name}')
    for (const path of ['/login', '/login/', '/Login', '/LOGIN', '/log%69n', '/%4Cogin', '/password%2fset'])
      expect((await openVisitor(origin).get(path)).text).not.toContain('This is')
    await fixture.manage('PUT', `/blueprints/update/set/inactive/${guid}`)
  })
})

describe('errors', () => {
  test('a browser gets a page, a program JSON', async () => {
    const visitor = openVisitor(origin)
    const seen = await visitor.get('/nowhere')
    expect([seen.status, seen.text.includes('Page not found')]).toEqual([404, true])
    const program = await visitor.get('/nowhere', { accept: 'application/json' })
    expect([program.status, JSON.parse(program.html).error]).toEqual([404, 'NOT_FOUND'])
    expect((await visitor.get('/api/v1/nowhere')).headers.get('content-type')).toContain('application/json')
  })

  test.each([
    'api/x',
    'studio',
    'static',
    'docs',
    '_pages/x',
    'Studio',
    'API/x',
    'DOCS',
    '_Approvals/x',
    'Health',
  ])('a page /%s would hide our own', async (url) => {
    await expect(fixture.install('Thief', page(url, []))).rejects.toMatchObject({ code: 'CONFLICT' })
  })

  test('two pages at one address', async () => {
    await expect(fixture.install('Twice', page('staff/{other}', []))).rejects.toThrow(
      'belongs to the active blueprint "Staff"',
    )
  })

  test('a flow that fails says a number and no cause', async () => {
    await fixture.install('Broken', {
      page: { type: 'state_page', in: { url: 'broken' } },
      text: { type: 'httpconnection_get_params', in: { field: 'level' } },
      call: { type: 'function_custom_execute', in: { flow: '@page.flow', function: 'no such function' } },
      show: { type: 'state_render_page', in: { flow: '@call.flow' } },
      level: { type: 'state_page', in: { url: 'level' } },
      h1: { type: 'state_h1', in: { text: 'x', level: '@text.value' } },
      show_level: { type: 'state_render_page', in: { flow: '@level.flow', state: '@h1.state' } },
      dumb: { type: 'state_page', in: { url: 'dumb' } },
    })
    const visitor = openVisitor(origin)
    const failed = await visitor.get('/broken')
    expect([failed.status, failed.text.includes('Number:')]).toEqual([500, true])
    expect(failed.text).not.toContain('no such function')
    expect((await visitor.get('/level?level=x')).status).toBe(400)
    expect((await visitor.get('/level?level=2')).status).toBe(200)
    expect((await visitor.get('/dumb')).status).toBe(404)
  })
})

describe('headers', () => {
  test('a page may run and load nothing but ours, and rests nowhere', async () => {
    const { headers } = await openVisitor(origin).get('/open')
    const policy = headers.get('content-security-policy') ?? ''
    expect(policy).toContain("default-src 'none'")
    expect(policy).toContain("script-src 'self';")
    expect(policy).not.toContain('unsafe')
    expect(policy).toContain("frame-ancestors 'none'")
    expect(headers.get('cache-control')).toBe('no-store')
    expect(headers.get('x-content-type-options')).toBe('nosniff')
    expect(headers.get('referrer-policy')).toBe('same-origin')
  })

  test('nothing of it stands in the page itself', async () => {
    const { html } = await openVisitor(origin).get('/open')
    expect(html).not.toMatch(/<script(?![^>]*\bsrc=)|<style|\son\w+=|\sstyle=/)
  })

  test('styles and scripts are there, for ever, and only those', async () => {
    const visitor = openVisitor(origin)
    const { html } = await visitor.get('/open')
    const files = [...html.matchAll(/(?:href|src)="(\/_pages\/[^"]+)"/g)].map(([, path = '']) => path)
    expect(files.length).toBeGreaterThan(1)
    for (const path of files) {
      const file = await visitor.get(path)
      expect([path, file.status, file.headers.get('cache-control')]).toEqual([
        path,
        200,
        'public, max-age=31536000, immutable',
      ])
    }
    for (const path of ['/_pages/x.js', '/_pages/../package.json', '/_pages/%2e%2e/package.json'])
      expect((await visitor.get(path)).status).toBe(404)
  })
})

describe('signing in', () => {
  test.each(['', 'wrong password'])(
    'with the password %j is refused, and the name stays',
    async (password) => {
      const seen = await signIn(openVisitor(origin), '/login', password)
      expect(seen.status).toBe(422)
      expect(seen.form('signin').input('username')).toContain('value="admin"')
      expect(seen.form('signin').input('password')).not.toContain('wrong')
      expect(seen.headers.getSetCookie().join()).not.toContain('access_token')
    },
  )

  test('sets a cookie that no script reads and leads to where one wanted to go', async () => {
    const visitor = openVisitor(origin)
    const asked = await visitor.get('/staff/7?a=b')
    const page = await visitor.follow(asked)
    const sent = await visitor.submit(page, 'signin', { username: 'admin', password: adminPassword })
    expect([sent.status, sent.headers.get('location')]).toEqual([303, '/staff/7?a=b'])
    const [cookie = ''] = sent.headers.getSetCookie().filter((line) => line.startsWith('access_token='))
    expect(cookie).toMatch(/; Path=\/; HttpOnly; SameSite=Lax; Max-Age=\d+$/)
    const after = await visitor.follow(sent)
    expect(after.text).toContain('This is staff')
    // The same token works for the API.
    expect((await visitor.get('/api/v1/users/me')).status).toBe(200)
  })

  test.each([
    '//evil.example',
    'https://evil.example/',
    '/\\evil.example',
    '/%09/evil.example',
    'javascript:alert(1)',
  ])('leads to no other place: %s', async (next) => {
    const sent = await signIn(openVisitor(origin), `/login?next=${encodeURIComponent(next)}`)
    expect(sent.status).toBe(303)
    const to = new URL(sent.headers.get('location') ?? '', origin)
    expect(to.origin).toBe(origin)
  })

  test.each([
    ['/login', '/'],
    ['/login?next=%2Ftasks', '/'],
    ['/password/forgot', '/'],
    ['/password', '/password'],
    ['/logins', '/logins'],
  ])('signing in on the way to %s leads to %s', async (next, to) => {
    const sent = await signIn(openVisitor(origin), `/login?next=${encodeURIComponent(next)}`)
    expect([sent.status, sent.headers.get('location')]).toEqual([303, to])
  })

  test('a name that is locked is told to wait', async () => {
    const visitor = openVisitor(origin)
    let seen = await visitor.get('/login')
    for (let i = 0; i < 12; i += 1)
      seen = await visitor.submit(seen, 'signin', { username: 'ben', password: 'wrong password' })
    expect(seen.text).toContain('Too many attempts')
  })
})

describe('signing out', () => {
  test('kills the token, everywhere', async () => {
    const visitor = openVisitor(origin)
    await signIn(visitor, '/login')
    const token = visitor.cookie('access_token')
    const sent = await visitor.submit(await visitor.get('/logout'), 'signout')
    expect([sent.status, sent.headers.get('location')]).toEqual([303, '/login'])
    expect(visitor.cookie('access_token')).toBeUndefined()
    expect((await visitor.follow(sent)).text).toContain('You are signed out.')
    const thief = openVisitor(origin)
    thief.setCookie('access_token', token ?? '')
    expect((await thief.get('/members')).status).toBe(303)
  })
})

describe('the password page', () => {
  test('asks for the present one, changes it and ends the session', async () => {
    await fixture.addUser('cleo', [])
    const visitor = await signedIn('cleo')
    const page = await visitor.get('/password')
    const fresh = 'a fresh password'
    const wrong = await visitor.submit(page, 'password', { current: 'no', new: fresh, repeat: fresh })
    expect([wrong.status, wrong.text.includes('The current password is wrong.')]).toEqual([422, true])
    const differ = await visitor.submit(page, 'password', {
      current: 'a password of a user',
      new: fresh,
      repeat: 'x',
    })
    expect(differ.text).toContain('not the same')
    const short = await visitor.submit(page, 'password', {
      current: 'a password of a user',
      new: 'x',
      repeat: 'x',
    })
    expect(short.status).toBe(422)
    const done = await visitor.submit(page, 'password', {
      current: 'a password of a user',
      new: fresh,
      repeat: fresh,
    })
    expect(done.status).toBe(303)
    await expect(
      fixture.quoin.access.signIn({ username: 'cleo', password: fresh, ip: '' }),
    ).resolves.toBeDefined()
  })
})

describe('pages of a blueprint instead of ours', () => {
  test('a login page signs in with its form signin, and ours is back when it is gone', async () => {
    const guid = await fixture.install('Our login', {
      page: { type: 'state_page', in: { url: 'login', title: 'Come in' } },
      h1: { type: 'state_h1', in: { text: 'Come in' } },
      name: { type: 'state_input_dynamic', in: { field: 'username' } },
      password: {
        type: 'state_input_dynamic',
        in: { state: '@name.state', field: 'password', type: 'password' },
      },
      form: { type: 'state_form', in: { state: '@h1.state', form_id: 'signin', content: '@password.state' } },
      show: { type: 'state_render_page', in: { flow: '@page.flow', state: '@form.state' } },
    })
    const visitor = openVisitor(origin)
    expect((await visitor.get('/login')).text).toContain('Come in')
    expect((await signIn(visitor, '/login', 'wrong password')).text).toContain(
      'User name or password is wrong.',
    )
    const sent = await signIn(visitor, '/login?next=/members')
    expect([sent.status, sent.headers.get('location')]).toEqual([303, '/members'])
    expect((await visitor.follow(sent)).status).toBe(200)
    await fixture.manage('PUT', `/blueprints/update/set/inactive/${guid}`)
    expect((await visitor.get('/login')).text).not.toContain('Come in')
  })
})
