import type { OptionSetting } from '../../../shared/api/operate/settings.ts'
import type { User } from '../../../shared/api/people/users.ts'

/** A user as the form holds it. */
export interface UserDraft {
  readonly username: string
  readonly email: string
  readonly firstname: string
  readonly lastname: string
  readonly language: string
  readonly timezone: string
  /** Empty: as it is. */
  readonly password: string
  /** A new user sets the password by a link in a mail. */
  readonly invite: boolean
  /** For programs: no password and no address. */
  readonly service: boolean
  readonly groups: readonly string[]
  readonly scopes: readonly string[]
  readonly isActive: boolean
}

export function draftOfUser(user: User | undefined): UserDraft {
  return {
    username: user?.username ?? '',
    email: user?.email ?? '',
    firstname: user?.firstname ?? '',
    lastname: user?.lastname ?? '',
    language: user?.language ?? '',
    timezone: user?.timezone ?? '',
    password: '',
    invite: false,
    service: user?.is_service ?? false,
    groups: user?.groups ?? [],
    scopes: user?.custom_scopes ?? [],
    isActive: user?.is_active ?? true,
  }
}

/** What the API takes: nothing of what may be left out and is empty. */
export function bodyOfUser({
  password,
  invite: _invite,
  service,
  email,
  groups,
  scopes,
  isActive,
  language,
  timezone,
  ...rest
}: UserDraft) {
  return {
    ...rest,
    ...(service ? { is_service: true } : {}),
    email: email === '' || service ? null : email,
    ...(language === '' ? {} : { language }),
    ...(timezone === '' ? {} : { timezone }),
    ...(password === '' || service ? {} : { password }),
    groups,
    custom_scopes: scopes,
    is_active: isActive,
  }
}

/** As {@link bodyOfUser}, for `POST /users/invite`. */
export function bodyOfInvitation(draft: UserDraft) {
  const { username, ...rest } = bodyOfUser({ ...draft, password: '' })
  return { ...rest, ...(username === '' ? {} : { username }) }
}

/** Links cannot be sent by mail. Who may not read the settings is told by the server. */
export function lacksMail(settings: readonly Pick<OptionSetting, 'name' | 'source'>[] | undefined): boolean {
  const needed = ['QUOIN_MAIL_URL', 'QUOIN_PUBLIC_URL']
  return settings?.some(({ name, source }) => needed.includes(name) && source === 'default') ?? false
}

/** Too many wrong passwords, and the time of the lock is not over. */
export function isLocked({ locked_until = 0 }: User): boolean {
  return locked_until > Date.now() / 1000
}
