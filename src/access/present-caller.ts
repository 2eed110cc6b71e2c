import type { Access } from './access.ts'

/** For whom a recorded run is repeated: the user as they are now. */
export function presentCaller(access: Pick<Access, 'getUser' | 'scopesOfUser'>) {
  return async (guid: string) => {
    const [user, scopes] = await Promise.all([access.getUser(guid), access.scopesOfUser(guid)])
    return user && scopes && { user, scopes }
  }
}
