/** A certificate for `localhost` that signs itself, for servers of the tests that speak TLS. No machine trusts it. */
export const localCertificate = {
  key: `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQg3AuZY99C8fPOkPFR
x08qK1Jd2dddNvnNDi+rxqs9LvuhRANCAAQYUL43sMl5f9+5Ycw2W02dxKkDkHXs
pl/y3jhylhXmDtbVADwlrNrAP61PGnWRe/A0d8FiKPoK6Hl4thvMMtuX
-----END PRIVATE KEY-----
`,
  cert: `-----BEGIN CERTIFICATE-----
MIIBmzCCAUGgAwIBAgIUNkmD1TlyD+RSkrpfc8JQnA3xjF8wCgYIKoZIzj0EAwIw
FDESMBAGA1UEAwwJbG9jYWxob3N0MCAXDTI2MTEyMzAzMzMzNVoYDzIxMjYxMDMw
MDMzMzM1WjAUMRIwEAYDVQQDDAlsb2NhbGhvc3QwWTATBgcqhkjOPQIBBggqhkjO
PQMBBwNCAAQYUL43sMl5f9+5Ycw2W02dxKkDkHXspl/y3jhylhXmDtbVADwlrNrA
P61PGnWRe/A0d8FiKPoK6Hl4thvMMtuXo28wbTAdBgNVHQ4EFgQUd6kc/7fjuMb8
Ly3sQPtG6PwfPWAwHwYDVR0jBBgwFoAUd6kc/7fjuMb8Ly3sQPtG6PwfPWAwDwYD
VR0TAQH/BAUwAwEB/zAaBgNVHREEEzARgglsb2NhbGhvc3SHBH8AAAEwCgYIKoZI
zj0EAwIDSAAwRQIhAIyQuuJkEGiX6ZpvMdPxZxqwp8n8+d7jQWDqDdZ/k1NfAiA+
bXIEHySGx96am6XqwpADQCZ/JBVqo6fC6xfD6i3bxw==
-----END CERTIFICATE-----
`,
}
