// Where a body may be a form or bytes, orval 8 writes code for a third thing, which does not compile: so forms only.
export default {
  quoin: {
    input: 'openapi.json',
    output: {
      target: 'written.ts',
      client: 'fetch',
      override: { contentType: { exclude: ['application/octet-stream'] } },
    },
  },
}
