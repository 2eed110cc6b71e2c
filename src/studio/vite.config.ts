import react from '@vitejs/plugin-react'
import { defineConfig } from 'vite'

/** What the server puts a new value in for at each request; see `src/http/routes/site/studio-files.ts`. */
const NONCE = 'studio-nonce'

/** For the build and for `npm run dev` (`scripts/dev/studio.ts`). */
export default defineConfig({
  root: import.meta.dirname,
  base: '/studio/',
  plugins: [react()],
  html: { cspNonce: NONCE },
  build: {
    outDir: '../../dist/studio',
    emptyOutDir: true,
    target: 'es2023',
    // From these on browsers know light-dark() themselves; translated, it would not follow the switch in the header.
    cssTarget: ['chrome123', 'firefox120', 'safari17.5'],
    // Nothing inline: the policy allows no code and no data that is not a file of ours.
    assetsInlineLimit: 0,
    reportCompressedSize: false,
    // Shipped with the package: the licences of what is bundled.
    license: { fileName: 'THIRD-PARTY.md' },
    chunkSizeWarningLimit: 1000,
    rolldownOptions: {
      output: {
        // Few files that change rarely instead of a hundred small ones: what all screens need is one of libraries and one of ours.
        codeSplitting: {
          // Else the canvas would take React along, and be loaded by everything.
          includeDependenciesRecursively: false,
          groups: [
            // What the sign-in form needs: it is there before React is.
            {
              name: 'sign-in',
              test: /node_modules\/zustand\/esm\/vanilla|src\/studio\/(quoin\.svg|sign-in\/|api\/(api-error|page-session|request|saved-places|session)|texts\/(api|sign-in)\.ts)/,
              priority: 5,
            },
            { name: 'canvas', test: /node_modules\/(@xyflow|d3-|classcat)/, priority: 3 },
            { name: 'layout', test: /node_modules\/@dagrejs/, priority: 3 },
            {
              name: 'code-editor',
              test: /node_modules\/(@codemirror|@lezer|@marijn|style-mod|crelt|w3c-keyname)|src\/expressions\/language\/declared/,
              priority: 4,
            },
            { name: 'expressions', test: /node_modules\/acorn|src\/expressions\//, priority: 3 },
            // Only who adds an authenticator app sees a QR code.
            { name: 'libraries', test: /node_modules\/(?!uqr)/, priority: 2 },
            // Not what only the editor, some dialogs or one screen use: files, pages, tests, figures, applications, assets, keys and jobs.
            // 17 KB less for the first page.
            {
              name: 'controls',
              test: /src\/(studio\/(api\/(?!blueprint-transfer|applications|assets|credentials|endpoint-traffic|open-api|operations|run-place)|controls\/(?!charts|cron-labels|json\/difference|send-again)|shell\/|theme\/|texts\/(api|controls|shell)\.ts)|shared\/(?!application|canvas|rows|scenarios|resource\/(?!resource(?:-endpoints)?\.ts)))/,
              priority: 1,
            },
          ],
        },
      },
    },
    manifest: true,
  },
})
