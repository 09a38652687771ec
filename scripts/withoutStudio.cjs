// Prisma's CLI loads its studio and its development server at every start; package.json leaves both out (120 MB).
const Module = require('node:module')

const load = Module._load
Module._load = (request, ...rest) =>
  /^@prisma\/(studio-core|dev)(\/|$)/.test(request) ? {} : load(request, ...rest)
