/** A device with passkeys in the browser of a test: Chromium's own, which signs without a question. */
import type { Page } from 'playwright-core'

export interface VirtualAuthenticator {
  /** The credentials that it holds, as base64. */
  credentials(): Promise<readonly string[]>
}

export async function virtualAuthenticator(page: Page): Promise<VirtualAuthenticator> {
  const client = await page.context().newCDPSession(page)
  await client.send('WebAuthn.enable')
  const { authenticatorId } = await client.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      ...{ protocol: 'ctap2', transport: 'internal', hasResidentKey: true, hasUserVerification: true },
      ...{ isUserVerified: true, automaticPresenceSimulation: true },
    },
  })
  return {
    async credentials() {
      const { credentials } = await client.send('WebAuthn.getCredentials', { authenticatorId })
      return credentials.map(({ credentialId }) => credentialId)
    },
  }
}
