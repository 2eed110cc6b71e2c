import type { RunPeople } from '../blocks/run-people.ts'
import type { Access } from './access.ts'

/** Users as blocks see them. A block holds no scope, so it can grant none. */
export function runPeople(access: Pick<Access, 'createUser'>): RunPeople {
  return {
    create: (user, by) =>
      access.createUser({ ...user }, { ...by, scopes: new Set(), user: {}, tokenGuid: '' }),
  }
}
