/**
 * Where assets lie in S3: `s3://bucket/prefix?endpoint=https://s3.example.org&region=eu-central-1`. Prefix, endpoint and
 * region may be left out; without an endpoint it is Amazon's. Credentials never stand in it: they come from where every
 * S3 client looks (AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, a profile, the role of the machine).
 */
export interface BucketAddress {
  readonly bucket: string
  /** Empty, or ends with a slash. */
  readonly prefix: string
  readonly endpoint: string | undefined
  /** undefined: from AWS_REGION or the profile. */
  readonly region: string | undefined
}

/** Throws an Error with words that finish "QUOIN_ASSETS_URL …"; they never repeat what could be a secret. */
export function parseBucketUrl(text: string): BucketAddress {
  const url = URL.parse(text)
  if (url?.protocol !== 's3:') throw new Error('must be s3://bucket/prefix?endpoint=…&region=…, or empty')
  if (url.username !== '' || url.password !== '')
    throw new Error('must not hold credentials: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY')
  if (!/^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/.test(url.host))
    throw new Error('names no bucket: 3 to 63 of a–z, 0–9, . and - after s3://')
  if (url.hash !== '') throw new Error('must not hold #')
  for (const name of url.searchParams.keys())
    if (name !== 'endpoint' && name !== 'region')
      throw new Error('has a parameter that is neither endpoint nor region')
  const { endpoint, region } = { endpoint: only(url, 'endpoint'), region: only(url, 'region') }
  if (region !== undefined && !/^[a-z0-9-]{1,64}$/.test(region))
    throw new Error('has a region that is none: a–z, 0–9 and - only')
  return {
    bucket: url.host,
    prefix: prefixOf(url),
    endpoint: endpoint === undefined ? undefined : checkedEndpoint(endpoint),
    // Servers that are not Amazon's take any region, but requests are signed with one.
    region: region ?? (endpoint === undefined ? undefined : 'us-east-1'),
  }
}

function only(url: URL, name: string): string | undefined {
  const [first, second] = url.searchParams.getAll(name)
  if (second !== undefined) throw new Error(`has more than one ${name}`)
  return first === '' ? undefined : first
}

function prefixOf({ pathname }: URL): string {
  const path = pathname.replace(/^\/|\/$/g, '')
  if (path === '') return ''
  if (!/^[A-Za-z0-9._-]+(\/[A-Za-z0-9._-]+)*$/.test(path) || path.length > 200)
    throw new Error(
      'has a prefix that cannot be: up to 200 of a–z, A–Z, 0–9, ., _ and -, in parts with slashes',
    )
  return `${path}/`
}

function checkedEndpoint(text: string): string {
  const url = URL.parse(text)
  if (url === null || !['http:', 'https:'].includes(url.protocol))
    throw new Error('has an endpoint that is no http:// or https:// address')
  if (url.username !== '' || url.password !== '')
    throw new Error('has credentials in its endpoint: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY')
  if (url.search !== '' || url.hash !== '') throw new Error('has an endpoint with ? or #')
  return url.href
}
