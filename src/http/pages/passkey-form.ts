/** The form of a page whose button has a device sign a challenge, or make a passkey. */
import type { FastifyRequest } from 'fastify'
import type { PageMessages } from '../../pages/messages.ts'
import type { CreationOptions, RequestOptions } from '../../shared/api/people/passkeys.ts'
import type { PageNode } from '../../shared/pages/page-content.ts'
import { PASSKEY_FORM } from './account-form.ts'
import type { PageServices } from './open-page-services.ts'

export const MOST_PASSKEY_NAME = 64
/** A form reads 4 KiB in a field; a credential has 1 to 2. */
const MOST_CREDENTIAL = 4 * 1024

/** Nothing of it is shown without JavaScript. */
export function passkeyForm(
  options: RequestOptions | CreationOptions,
  label: string,
  content: readonly PageNode[] = [],
): PageNode {
  const value = JSON.stringify(options)
  const hidden: PageNode = {
    ...{ kind: 'input', type: 'hidden', name: 'passkey', label: '', value, maxLength: MOST_CREDENTIAL },
  }
  return {
    ...{ kind: 'form', id: PASSKEY_FORM, block: '', needsScript: true, label },
    content: [...content, hidden, { kind: 'button', action: 'submit', label, tone: 'plain' }],
  }
}

/** For a new passkey, which has a name. */
export function newPasskeyForm(
  options: CreationOptions,
  say: PageMessages,
  before: readonly PageNode[] = [],
): PageNode {
  const name: PageNode = {
    ...{ kind: 'input', type: 'line', name: 'name', label: say('passkeys.name') },
    ...{ maxLength: MOST_PASSKEY_NAME, required: true, help: say('passkeys.name.help') },
  }
  return passkeyForm(options, say('passkeys.add'), [...before, name])
}

/** Browsers use passkeys at their host only: a page that is open at another address, such as that of the machine, has none. */
export function isAtHost({ access: { passkeys } }: PageServices, { hostname }: FastifyRequest): boolean {
  const site = passkeys.site()
  return typeof site !== 'string' && site.host === hostname
}
