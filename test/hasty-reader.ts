/** Says that it serves before it follows: no reading process may do that. It stays until it is killed. */
process.on('message', () => process.send?.({ kind: 'listening' }))
