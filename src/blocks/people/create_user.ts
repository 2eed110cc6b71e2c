import { defineFlow } from '../block.ts'

export default defineFlow({
  identifier: 'create_user',
  title: 'Create user',
  words: 'Create user {username}',
  summary:
    'Creates a user who can sign in. The user holds no scopes and is in no group. The user is stored at once: a run that fails later does not remove it.',
  effects: { calls: 'external' },
  deployScopes: ['users_create'],
  in: {
    username: { type: 'value', required: true, help: 'Name to sign in with, 1 to 64 characters, unique.' },
    password: {
      type: 'value',
      required: true,
      help: 'Password of at least 10 characters, not a common one.',
    },
    email: { type: 'value', help: 'E-mail address, unique. The user can sign in with it.' },
    firstname: { type: 'value', help: 'First name.' },
    lastname: { type: 'value', help: 'Last name.' },
  },
  out: { user: { type: 'document', help: 'The user, without the password.' } },
  settings: {},
  async run({ username, password, ...more }, { services: { people }, session }) {
    const { email, firstname, lastname } = more
    const by = session.origin.user ?? { guid: '', username: '' }
    const user = await people.create(
      {
        ...{ username, password },
        ...(email !== undefined && { email }),
        ...(firstname !== undefined && { firstname }),
        ...(lastname !== undefined && { lastname }),
      },
      by,
    )
    return { user }
  },
})
