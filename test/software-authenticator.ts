/** A device with passkeys, in software: it signs what a browser would have it sign. For tests of servers. */
import { createHash, generateKeyPairSync, type KeyObject, sign } from 'node:crypto'
import type {
  Assertion,
  CreationOptions,
  Registration,
  RequestOptions,
} from '../src/shared/api/people/passkeys.ts'

/** What a thief or a fault would change. */
export interface Deviation {
  readonly origin?: string
  readonly host?: string
  readonly counter?: number
  /** Whether the device has asked for a fingerprint or PIN; true if not given. */
  readonly verified?: boolean
  readonly challenge?: string
  readonly signature?: Buffer
  readonly format?: string
  readonly userHandle?: string
}

export interface SoftwarePasskey {
  readonly id: string
  /** Of its last use. */
  counter: number
  get(options: Pick<RequestOptions, 'challenge'>, deviation?: Deviation): Assertion
}

export interface SoftwareAuthenticator {
  create(options: CreationOptions, deviation?: Deviation): { passkey: SoftwarePasskey; sent: Registration }
}

/** `counts`: each use has a higher counter; synced passkeys have 0 for ever. */
export function softwareAuthenticator(site: {
  readonly origin: string
  readonly host: string
  readonly counts?: boolean
}): SoftwareAuthenticator {
  let made = 0
  return {
    create(options, deviation = {}) {
      const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
      const idBytes = createHash('sha256').update(`${options.challenge} ${++made}`).digest()
      const id = idBytes.toString('base64url')
      const data = Buffer.concat([
        authenticatorData(site, 0, deviation, 0x40),
        Buffer.alloc(16),
        Buffer.from([0, idBytes.length]),
        idBytes,
        coseKey(publicKey),
      ])
      const attestationObject = cborMap([
        [cborText('fmt'), cborText(deviation.format ?? 'none')],
        [cborText('attStmt'), cborMap([])],
        [cborText('authData'), cborBytes(data)],
      ])
      const clientData = clientDataOf('webauthn.create', options.challenge, site, deviation)
      const passkey: SoftwarePasskey = {
        id,
        counter: 0,
        get: (requested, change = {}) => {
          if (site.counts === true) passkey.counter++
          return assertion(site, { passkey, privateKey, user: options.user.id }, requested, change)
        },
      }
      const response = {
        clientDataJSON: clientData.toString('base64url'),
        attestationObject: attestationObject.toString('base64url'),
        transports: ['internal'],
      }
      return { passkey, sent: { id, rawId: id, type: 'public-key', clientExtensionResults: {}, response } }
    },
  }
}

function assertion(
  site: { readonly origin: string; readonly host: string },
  key: { readonly passkey: SoftwarePasskey; readonly privateKey: KeyObject; readonly user: string },
  { challenge }: Pick<RequestOptions, 'challenge'>,
  deviation: Deviation,
): Assertion {
  const { id, counter } = key.passkey
  const data = authenticatorData(site, deviation.counter ?? counter, deviation, 0)
  const clientData = clientDataOf('webauthn.get', challenge, site, deviation)
  const signed = Buffer.concat([data, createHash('sha256').update(clientData).digest()])
  const signature = deviation.signature ?? sign('sha256', signed, key.privateKey)
  return {
    ...{ id, rawId: id, type: 'public-key', clientExtensionResults: {}, authenticatorAttachment: 'platform' },
    response: {
      clientDataJSON: clientData.toString('base64url'),
      authenticatorData: data.toString('base64url'),
      signature: signature.toString('base64url'),
      userHandle: deviation.userHandle ?? key.user,
    },
  }
}

function clientDataOf(
  type: string,
  challenge: string,
  { origin }: { readonly origin: string },
  deviation: Deviation,
): Buffer {
  const data = { type, challenge: deviation.challenge ?? challenge, origin: deviation.origin ?? origin }
  return Buffer.from(JSON.stringify({ ...data, crossOrigin: false }))
}

function authenticatorData(
  { host }: { readonly host: string },
  counter: number,
  { verified = true, host: other }: Deviation,
  more: number,
): Buffer {
  const present = 1
  const flags = present | (verified ? 4 : 0) | more
  const count = Buffer.alloc(4)
  count.writeUInt32BE(counter)
  return Buffer.concat([
    createHash('sha256')
      .update(other ?? host)
      .digest(),
    Buffer.from([flags]),
    count,
  ])
}

/** ES256, as RFC 9053 writes a key. */
function coseKey(publicKey: KeyObject): Buffer {
  const { x = '', y = '' } = publicKey.export({ format: 'jwk' })
  return cborMap([
    [Buffer.from([0x01]), Buffer.from([0x02])],
    [Buffer.from([0x03]), Buffer.from([0x26])],
    [Buffer.from([0x20]), Buffer.from([0x01])],
    [Buffer.from([0x21]), cborBytes(Buffer.from(x, 'base64url'))],
    [Buffer.from([0x22]), cborBytes(Buffer.from(y, 'base64url'))],
  ])
}

function cborHead(major: number, length: number): Buffer {
  if (length < 24) return Buffer.from([(major << 5) | length])
  if (length < 256) return Buffer.from([(major << 5) | 24, length])
  return Buffer.from([(major << 5) | 25, length >> 8, length & 255])
}

function cborBytes(bytes: Buffer): Buffer {
  return Buffer.concat([cborHead(2, bytes.length), bytes])
}

function cborText(text: string): Buffer {
  return Buffer.concat([cborHead(3, text.length), Buffer.from(text)])
}

function cborMap(entries: readonly (readonly [Buffer, Buffer])[]): Buffer {
  return Buffer.concat([cborHead(5, entries.length), ...entries.flat()])
}
