import { defineFlow } from '../block.ts'
import { groupsSetting } from './groups-setting.ts'

export default defineFlow({
  identifier: 'invite_user',
  title: 'Invite user',
  summary:
    'Creates a user without a password and sends a mail with a link, where the user sets it within seven days. Needs QUOIN_MAIL_URL and QUOIN_PUBLIC_URL. The user is stored at once: a run that fails later does not remove it.',
  effects: { calls: 'external', sends: ['mail'] },
  deployScopes: ['users_create', 'users_update'],
  givesGroups: 'groups',
  in: {
    email: { type: 'value', required: true, help: 'E-mail address, unique. The invitation is sent there.' },
    username: { type: 'value', help: 'Name to sign in with, unique. The address if empty.' },
    firstname: { type: 'value', help: 'First name.' },
    lastname: { type: 'value', help: 'Last name.' },
    language: { type: 'value', help: 'Language tag such as en or de: the mail is written in it.' },
  },
  out: { user: { type: 'document', help: 'The user, with invited_until.' } },
  settings: { groups: groupsSetting('Authentication groups that the user joins, by name.') },
  async run({ email, username, firstname, lastname, language }, { services: { people }, session, settings }) {
    const user = await people.invite(
      {
        email,
        ...(username && { username }),
        ...(firstname !== undefined && { firstname }),
        ...(lastname !== undefined && { lastname }),
        ...(language && { language }),
      },
      settings.groups,
      session.origin.user ?? { guid: '', username: '' },
    )
    return { user }
  },
})
