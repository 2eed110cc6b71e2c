import { isJsonObject, type JsonValue } from '../../shared/json.ts'
import { guidOf, textIn } from '../../storage/document-fields.ts'
import { defineFlow, PinError } from '../block.ts'
import { groupsSetting } from './groups-setting.ts'

export default defineFlow({
  identifier: 'set_groups',
  title: 'Set groups',
  summary:
    'Puts a user into authentication groups and takes the user out of others. Only groups that the block names are given or taken; the user stays in all others. A user who holds a scope that none of these groups has is refused. The change is stored at once.',
  effects: { calls: 'external' },
  deployScopes: ['users_update'],
  givesGroups: 'among',
  in: {
    user: { type: 'any', required: true, help: 'The user: the document or its guid.' },
    groups: {
      type: 'any',
      required: true,
      help: 'Names of the groups that the user is to be in, from those of the block: one, or a list. Empty for none of them.',
    },
  },
  out: { user: { type: 'document', help: 'The user after the change.' } },
  settings: { among: groupsSetting('Authentication groups that the block may give and take, by name.') },
  async run({ user, groups }, { services: { people }, session, settings }) {
    const requested = namesIn(groups)
    const unknown = requested.find((name) => !settings.among.includes(name))
    if (unknown !== undefined)
      throw new PinError(
        'groups',
        `must be groups of the block; ${JSON.stringify(unknown)} is not one of them`,
      )
    const by = session.origin.user ?? { guid: '', username: '' }
    return { user: await people.setGroups(guidIn(user), settings.among, requested, by) }
  },
})

function guidIn(user: JsonValue): string {
  const guid = isJsonObject(user) && isJsonObject(user._meta) ? guidOf(user) : textIn(user)
  if (guid === '') throw new PinError('user', 'must be a user or the guid of one')
  return guid
}

function namesIn(groups: JsonValue): readonly string[] {
  const list = Array.isArray(groups) ? groups : groups === '' || groups === null ? [] : [groups]
  return list.map((name) => {
    if (typeof name !== 'string') throw new PinError('groups', 'must be a name or a list of names')
    return name
  })
}
