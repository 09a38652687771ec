// A classic script beside swagger-ui-bundle.js, which leaves one global.
const version = new URLSearchParams(location.search).get('version')
const links = [...document.querySelectorAll('[data-document]')]
const link =
  links.find(({ href }) => new URL(href).searchParams.get('version') === version) ?? links[0]
link.setAttribute('aria-current', 'page')
SwaggerUIBundle({
  url: link.dataset.document,
  dom_id: '#reference',
  deepLinking: true,
  tryItOutEnabled: true,
  filter: true,
  // badges of a service elsewhere, and documents that a link names
  validatorUrl: null,
  queryConfigEnabled: false,
})
